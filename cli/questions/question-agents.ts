/** Agents that answer questions, as the command line names them: by name with switches, or by their run. */
import type { QuestionAgent } from '../../agents/question-agent.js';
import type { QuestionAgentResources } from '../../agents/question-registry.js';
import type { StateEncoder } from '../../src/encoder/state-encoder.js';
import { defaultModel } from '../../src/llm/model-files.js';
import { applyOverrides } from '../../src/run/config.js';
import { parseOverride } from '../../src/run/config-source.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { cacheFolder } from '../../src/run/locations.js';
import { nearestName } from '../../src/run/nearest-name.js';
import type { RunInfo } from '../../src/run/records.js';
import { agentOf, findRun } from '../kind-of-work.js';
import type { Named } from '../kind-of-work.js';
import type { QuestionFlags, QuestionGraph } from './question-inputs.js';

/** A name resolved, before anything is loaded. */
export interface ResolvedAgent {
  /** As it was asked for. */
  name: string;
  /** Of an untrained agent: its name and the switches that differ from their defaults. */
  agent?: string;
  switches: Record<string, unknown>;
  /** Of a trained one. */
  run?: { run: RunInfo; checkpoint: string };
}

/** An agent with what the record says of its weights and encoder; close it after use. */
export interface OpenedQuestionAgent {
  agent: QuestionAgent;
  /** Of a trained one: sha256 of its weights. */
  checkpointHash?: string;
  /** Text encoder as it was asked for, where the agent has one, and what its vectors depend on. */
  encoder?: string;
  encoderId?: string;
  close(): Promise<void>;
}

/**
 * Looks names up and reads switches: `fiske`, `fiske:stateful=false,endFlag=false`, a run, `RUN@clone`.
 * @param set switches of `--set`, for every untrained agent named
 * @throws WorkbenchError `usage` for a name that is neither, `config` for a switch that the agent lacks
 */
export async function resolveAgents(
  named: readonly Named[],
  { checkpoint, set }: Pick<QuestionFlags, 'checkpoint' | 'set'>,
): Promise<ResolvedAgent[]> {
  const { parseSwitches, questionAgentNames } = await import('../../agents/question-registry.js');
  const known = questionAgentNames();
  return named.map(({ name, isRun }) => {
    const agent = agentOf(name);
    if (isRun !== true && known.includes(agent)) {
      const own = name.length > agent.length ? name.slice(agent.length + 1).split(',') : [];
      const given = parseSwitches(agent, switchesOf([...set, ...own]));
      const defaults = parseSwitches(agent, {});
      const changed = Object.entries(given).filter(
        ([key, value]) => JSON.stringify(value) !== JSON.stringify(defaults[key]),
      );
      return { name, agent, switches: Object.fromEntries(changed) };
    }
    const found = isRun === false ? undefined : findRun(name);
    if (found) return { name, switches: {}, run: { run: found.run, checkpoint: found.checkpoint ?? checkpoint } };
    const near = nearestName(agent, known);
    throw new WorkbenchError(
      'usage',
      `expected an agent${isRun === false ? '' : ' or a run'}, got ${JSON.stringify(name)}`,
      {
        hint: `${near === undefined ? '' : `Did you mean "${near}"? `}Agents on questions: ${known.join(', ')}. Runs: \`kgwalk runs list\`.`,
      },
    );
  });
}

/** Loads one agent. */
export async function openQuestionAgent(
  { agent: name, switches, run }: ResolvedAgent,
  { dataset, graph, names, train }: QuestionGraph,
  { seed, encoder: wanted }: { seed: number; encoder?: string | undefined },
): Promise<OpenedQuestionAgent> {
  if (run) return openTrained(run, wanted);
  const encoder = wanted ?? defaultModel() ?? 'hashed:256';
  const { createQuestionAgent } = await import('../../agents/question-registry.js');
  let opened: Promise<StateEncoder> | undefined;
  const resources: QuestionAgentResources = {
    dataset: dataset.manifest.name,
    graph,
    names,
    train,
    seed,
    encoder: () => (opened ??= openTextEncoder(encoder)),
  };
  const close = async () => {
    await (await opened)?.dispose();
  };
  try {
    const agent = await createQuestionAgent(name!, resources, switches);
    const encoderId = (await opened)?.id;
    return { agent, ...(encoderId !== undefined && { encoder, encoderId }), close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

async function openTrained(
  { run, checkpoint }: NonNullable<ResolvedAgent['run']>,
  modelPath: string | undefined,
): Promise<OpenedQuestionAgent> {
  const { loadQuestionRun } = await import('../../agents/load-question-run.js');
  const { resolveCheckpoint } = await import('../../checkpoints/store.js');
  const { sha256File } = await import('../../src/run/files.js');
  const { agent, encoder, close } = await loadQuestionRun(run.folder, { checkpoint, modelPath });
  const checkpointHash = await sha256File(resolveCheckpoint(run.folder, checkpoint).file);
  return {
    agent,
    checkpointHash,
    ...(modelPath !== undefined && { encoder: modelPath }),
    encoderId: encoder.id,
    close,
  };
}

async function openTextEncoder(modelPath: string): Promise<StateEncoder> {
  const { openEncoder } = await import('../../src/encoder/open-encoder.js');
  const { encoderSettings } = await import('../../src/encoder/settings.js');
  return openEncoder(encoderSettings.parse({}), { modelPath, cacheFolder: cacheFolder() });
}

/** @throws WorkbenchError `config` for what is no `switch=value` */
function switchesOf(texts: readonly string[]): Record<string, unknown> {
  const overrides = texts.map((text) => {
    const read = parseOverride(text);
    if ('problem' in read) throw new WorkbenchError('config', read.problem);
    return read;
  });
  return applyOverrides({}, overrides);
}
