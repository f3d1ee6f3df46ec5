/** Agents as the command line names them: untrained ones by name, trained ones by their run. */
import type { Agent } from '../../agents/agent.js';
import type { DialogueAgentResources } from '../../agents/dialogue-agents.js';
import type { WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import type { EvaluateOptions } from '../../evaluation/evaluate.js';
import type { EncoderSettings } from '../../src/encoder/settings.js';
import type { StateEncoder } from '../../src/encoder/state-encoder.js';
import { defaultModel } from '../../src/llm/model-files.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { cacheFolder } from '../../src/run/locations.js';
import { nearestName } from '../../src/run/printable.js';
import { collectProvenance, ProvenanceNotes } from '../../src/run/provenance.js';
import type { RunInfo } from '../../src/run/records.js';
import { interruptSignal } from '../interrupt.js';
import { findRun } from '../kind-of-work.js';
import { threadsOf } from '../threads.js';
import { evaluationInputs, type EvaluationInputs, type InputFlags } from './evaluation-inputs.js';
import type { ModelFlags } from './task-clients.js';

/** Options that say what agents are opened with. */
export interface AgentFlags extends InputFlags, ModelFlags {
  checkpoint: string;
  encoder?: string;
  backend?: string;
  threads?: string;
}

/** An agent, how it was called, and what the record says of it. */
export interface OpenedAgent {
  /** As it was asked for. */
  name: string;
  agent: Agent;
  /** What the record says about it beyond its name. */
  about: Partial<EvaluateOptions['about']>;
  /** What it was made from, and what it makes while it answers. */
  notes: ProvenanceNotes;
  /** Folder of its run; absent for untrained agents. */
  runFolder?: string;
  /** The edges that it may walk, where its run says; absent: all. */
  walks?: WalkGraph;
}

/** All named agents over one set of samples; close them after use. */
export interface OpenedAgents {
  inputs: EvaluationInputs;
  /** In the order they were asked for. */
  agents: OpenedAgent[];
  close(): Promise<void>;
}

/**
 * Opens agents on the data of the runs among them, else on that of the flags.
 * @param wanted `kind` says what a name means; without it an agent's name goes before a run's
 * @throws WorkbenchError `usage` for a name that is neither, and what loading throws, all before any evaluation starts
 */
export async function openAgents(
  wanted: readonly { name: string; kind?: 'agent' | 'run' }[],
  flags: AgentFlags,
): Promise<OpenedAgents> {
  const { dialogueAgents } = await import('../../agents/dialogue-agents.js');
  const resolved = wanted.map(({ name, kind = dialogueAgents.has(name) ? 'agent' : 'run' }) =>
    kind === 'agent' ? { name } : { name, trained: runOf(name, dialogueAgents.names(), flags.checkpoint) },
  );
  const runs = resolved.flatMap(({ trained }) => trained?.run ?? []);
  await refuseIdleModel(resolved, flags.model);
  const shared = new ProvenanceNotes();
  const inputs = await collectProvenance(shared, () => evaluationInputs(flags, runs));
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closeOne of closers.splice(0)) await closeOne();
  };
  const resources = await resourcesOf(inputs, runs.at(-1), flags, closers);
  try {
    const agents: OpenedAgent[] = [];
    for (const { name, trained } of resolved) {
      const notes = new ProvenanceNotes().keep(shared.record());
      const open = () => (trained ? openWalker(name, trained, inputs, flags, closers) : openUntrained(name, resources));
      const { agent, ...opened } = await collectProvenance(notes, open);
      agents.push({ ...opened, agent: noting(agent, notes), notes });
    }
    return { inputs, agents, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The agent, with what it reads of samples or shows as examples while it answers in its notes. */
function noting(agent: Agent, notes: ProvenanceNotes): Agent {
  const { name, note } = agent;
  return {
    name,
    ...(note !== undefined && { note }),
    answer: (...asked) => collectProvenance(notes, () => agent.answer(...asked)),
  };
}

async function openUntrained(name: string, resources: DialogueAgentResources): Promise<Omit<OpenedAgent, 'notes'>> {
  const { dialogueAgents } = await import('../../agents/dialogue-agents.js');
  const { agent, switches } = dialogueAgents.parse(name);
  return { name, agent: await dialogueAgents.create(agent, resources, switches), about: {} };
}

async function openWalker(
  name: string,
  { run, checkpoint }: { run: RunInfo; checkpoint: string },
  { settings: { beamWidth, twoHopBonus }, count }: EvaluationInputs,
  { encoder, backend, threads }: AgentFlags,
  closers: (() => Promise<void>)[],
): Promise<Omit<OpenedAgent, 'notes'>> {
  const { loadWalkerRun } = await import('../../agents/walker/load-walker.js');
  const { resolveCheckpoint } = await import('../../checkpoints/store.js');
  const { sha256File } = await import('../../src/run/files.js');
  const { backendOf } = await import('../../src/tensor/backend.js');
  const loaded = await loadWalkerRun(run.folder, {
    checkpoint,
    beamWidth,
    twoHopBonus,
    arkBeam: count === 'ark',
    ...(encoder !== undefined && { modelPath: encoder }),
    ...(backend !== undefined && { backend: backendOf(backend) }),
    threads: threadsOf(threads),
    signal: interruptSignal(),
  });
  closers.push(() => loaded.close());
  const hashes = {
    encoder: loaded.encoder.id,
    checkpoint: await sha256File(resolveCheckpoint(run.folder, checkpoint).file),
  };
  return {
    name,
    agent: loaded.agent,
    about: { checkpoint, seed: run.config.seed as number, hashes },
    runFolder: run.folder,
    walks: loaded.walks,
  };
}

/** A run by name or folder, with `@clone` and the like behind it for a checkpoint of its own. */
function runOf(name: string, agentNames: readonly string[], checkpoint: string): { run: RunInfo; checkpoint: string } {
  const found = findRun(name);
  if (found) return { run: found.run, checkpoint: found.checkpoint ?? checkpoint };
  const near = nearestName(name, agentNames);
  throw new WorkbenchError('usage', `expected an agent or a run, got ${JSON.stringify(name)}`, {
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}Agents: ${agentNames.join(', ')}. Runs: \`kgwalk runs list\`; RUN@clone names a checkpoint.`,
  });
}

async function resourcesOf(
  { dataset, graph, train, settings, count }: EvaluationInputs,
  run: RunInfo | undefined,
  flags: AgentFlags,
  closers: (() => Promise<void>)[],
): Promise<DialogueAgentResources> {
  const { encoderSettings } = await import('../../src/encoder/settings.js');
  const texts = encoderSettings.parse(run?.config.encoder ?? {});
  let encoder: Promise<StateEncoder> | undefined;
  let clients: ReturnType<DialogueAgentResources['taskClients']> | undefined;
  return {
    graph,
    train,
    ranking: { ...settings, arkBeam: count === 'ark' },
    async embedding() {
      const { transeTable } = await import('./transe-table.js');
      return transeTable(graph, dataset, run);
    },
    encoder: () => (encoder ??= openTextEncoder(flags.encoder, texts, closers)),
    textLimits: texts,
    async taskClients() {
      const { openTaskClients } = await import('./task-clients.js');
      return (clients ??= openTaskClients(flags, closers));
    },
  };
}

/** @throws WorkbenchError `usage` for a language model that nobody would ask */
async function refuseIdleModel(resolved: readonly { name: string }[], model: string | undefined): Promise<void> {
  const { dialogueAgents } = await import('../../agents/dialogue-agents.js');
  const asking = dialogueAgents.names().filter((name) => dialogueAgents.entry(name).needs?.includes('model'));
  if (model === undefined || resolved.some(({ name }) => asking.includes(name))) return;
  throw new WorkbenchError('usage', `expected no language model, got ${model}, at --model: no agent named asks one`, {
    hint: `On dialogues these do: ${asking.join(', ')}. Text vectors come from --encoder.`,
  });
}

/** The model that was asked for, else the run's, else the embedded one, else a hashed one; the agent's note names it. */
async function openTextEncoder(
  model: string | undefined,
  settings: EncoderSettings,
  closers: (() => Promise<void>)[],
): Promise<StateEncoder> {
  const { openEncoder } = await import('../../src/encoder/open-encoder.js');
  const modelPath = model ?? settings.model ?? defaultModel() ?? 'hashed:256';
  const encoder = await openEncoder(settings, { modelPath, cacheFolder: cacheFolder() });
  closers.push(() => encoder.dispose());
  return encoder;
}
