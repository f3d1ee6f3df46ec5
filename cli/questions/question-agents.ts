/** Agents that answer questions, as the command line names them: by name with switches, or by their run. */
import type { QuestionAgent, QuestionAgentResources } from '../../agents/question-agent.js';
import { agentOf } from '../../agents/registry.js';
import type { StateEncoder } from '../../src/encoder/state-encoder.js';
import { defaultModel } from '../../src/llm/model-files.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { cacheFolder } from '../../src/run/locations.js';
import { nearestName } from '../../src/run/printable.js';
import type { RunInfo } from '../../src/run/records.js';
import { findRun, type Named } from '../kind-of-work.js';
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
  const { questionAgents } = await import('../../agents/question-agents.js');
  return named.map(({ name, isRun }) => {
    if (isRun !== true && questionAgents.has(name)) return { name, ...questionAgents.parse(name, set) };
    const found = isRun === false ? undefined : findRun(name);
    if (found) return { name, switches: {}, run: { run: found.run, checkpoint: found.checkpoint ?? checkpoint } };
    const known = questionAgents.names();
    const near = nearestName(agentOf(name), known);
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
  const { questionAgents } = await import('../../agents/question-agents.js');
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
    const agent = await questionAgents.create(name!, resources, switches);
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
  const { loadQuestionRun } = await import('../../agents/question-agents.js');
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
