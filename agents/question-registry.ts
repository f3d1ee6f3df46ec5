/** Agents that answer questions, by name. Trained walkers are not here: they come out of run folders. */
import type { z } from 'zod';
import type { QuestionSample } from '../datasets/question.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { Graph } from '../src/kg/graph.js';
import type { NameIndex } from '../src/kg/name-index.js';
import { WorkbenchError } from '../src/run/errors.js';
import { nearestName } from '../src/run/nearest-name.js';
import { randomChainEntry } from './baselines/random-chain.js';
import { templateLookupEntry } from './baselines/template-lookup.js';
import { cotEntry } from './prompted/cot/cot-agent.js';
import { fiskeEntry } from './prompted/fiske/fiske-agent.js';
import { ioEntry } from './prompted/io/io-agent.js';
import { selfVeqaEntry } from './prompted/self-veqa/self-veqa-agent.js';
import { togEntry } from './prompted/tog/tog-agent.js';
import type { QuestionAgent } from './question-agent.js';

/** What agents may ask for; costly parts are functions, so that only those who need them pay. */
export interface QuestionAgentResources {
  /** Name of the data set: what worked examples are chosen by. */
  dataset: string;
  graph: Graph;
  names: NameIndex;
  /** Text vectors; the caller disposes it. To be asked for in `create`: an evaluation is known by the encoder of its agent. */
  encoder(): Promise<StateEncoder>;
  /** The train part of the questions, for memories and lookups: never valid or test. */
  train(): readonly QuestionSample[];
  seed: number;
}

/** An agent with the switches it understands, all with defaults. */
export interface QuestionAgentEntry<Settings extends z.ZodType = z.ZodType> {
  settings: Settings;
  create(resources: QuestionAgentResources, settings: z.output<Settings>): QuestionAgent | Promise<QuestionAgent>;
}

const entries = new Map<string, QuestionAgentEntry>(
  Object.entries({
    io: ioEntry,
    cot: cotEntry,
    tog: togEntry,
    fiske: fiskeEntry,
    'self-veqa': selfVeqaEntry,
    'template-lookup': templateLookupEntry,
    'random-chain': randomChainEntry,
  }),
);

/**
 * Makes an agent known to `createQuestionAgent`, in this process. A name that exists is replaced.
 * @throws WorkbenchError `usage` for a name that a command could not name
 */
export function registerQuestionAgent<Settings extends z.ZodType>(
  name: string,
  entry: QuestionAgentEntry<Settings>,
): void {
  // `:` begins switches and `@` a checkpoint.
  if (!/^\w[\w.-]*$/.test(name)) {
    throw new WorkbenchError('usage', `expected a name like my-agent, got "${name}", at registerQuestionAgent`);
  }
  entries.set(name, entry);
}

/** Names that `createQuestionAgent` knows. */
export const questionAgentNames = (): readonly string[] => [...entries.keys()];

/**
 * @param switches such as `{ stateful: false }`; what is missing takes its default
 * @throws WorkbenchError `usage` for an unknown name, with the nearest one; `config` for an unknown switch or value
 */
export async function createQuestionAgent(
  name: string,
  resources: QuestionAgentResources,
  switches: Record<string, unknown> = {},
): Promise<QuestionAgent> {
  return entryOf(name).create(resources, parseSwitches(name, switches));
}

/** All switches of an agent with their values. @throws as `createQuestionAgent` */
export function parseSwitches(name: string, switches: Record<string, unknown>): Record<string, unknown> {
  const { settings } = entryOf(name);
  const { data, error } = settings.safeParse(switches);
  if (!error) return data as Record<string, unknown>;
  const problems = error.issues.map(({ path, message }) => `${path.join('.') || 'switches'}: ${message}`).join('; ');
  throw new WorkbenchError('config', `expected switches of agent ${name}, got ${problems}`, {
    hint: `It has ${Object.keys(settings.parse({}) as object).join(', ')}.`,
  });
}

function entryOf(name: string): QuestionAgentEntry {
  const entry = entries.get(name);
  if (entry) return entry;
  const names = questionAgentNames();
  const near = nearestName(name, names);
  throw new WorkbenchError('usage', `expected an agent (${names.join(', ')}), got ${JSON.stringify(name)}`, {
    hint: near ? `Did you mean "${near}"?` : 'A trained walker is given by the name or folder of its run.',
  });
}
