/** Opens a trained walker from its run folder. */
import { checkFits, optimizerPrefix, type CheckpointHeader } from '../../checkpoints/checkpoint.js';
import { loadDialogueDataset, sourcesHash } from '../../datasets/dialogues/dialogue-dataset.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { type WalkRules, walkRulesOf } from '../../envs/dialogue-walk/rules.js';
import { walkGraph, type WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import type { EncoderSettings } from '../../src/encoder/settings.js';
import type { StateEncoder } from '../../src/encoder/state-encoder.js';
import type { AdjacencyRows } from '../../src/kg/adjacency.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { type ExecutorName, type NetworkSize, openExecutor } from '../../src/nn/open-executor.js';
import type { Agent } from '../agent.js';
import { openTrainedRun } from '../trained-run.js';
import { StateReader, type WalkScorer, walkScorer } from './policy.js';
import { slotOrder } from './inputs.js';
import { beamAgent } from './agent.js';
import { meanScorer } from '../mean-scorer.js';
import { encodeNames, encodeTasks, readTables } from './vectors.js';
import { readVocabulary } from './words/said-words.js';
import { policyOf, sizeOf, threadedWalker, type WalkerParts, walkerRunSettings } from './walker-parts.js';

/** Which checkpoint, and how it ranks. */
export interface LoadWalkerOptions {
  checkpoint: string;
  beamWidth: number;
  twoHopBonus?: number;
  /** Adds the beam of LLM-ARK's reference to answers. Default false. */
  arkBeam?: boolean;
  /** GGUF file, where it is no longer at the path that the run names. */
  modelPath?: string;
  /** Backend to compute with; default the run's own. Others differ in the last digits. */
  backend?: ExecutorName | 'auto';
  /** Threads that walk; default 1: this one. Answers do not depend on it. */
  threads?: number;
  /** Opens the encoder, or gives one that was opened before and is not this walker's to dispose. */
  shareEncoder?: ((settings: EncoderSettings, open: () => Promise<StateEncoder>) => Promise<StateEncoder>) | undefined;
  /** Aborted: threads stop at once; one thread alone stops between batches. */
  signal?: AbortSignal;
}

/** Options of one walker, or of several that answer as one. */
export type LoadWalkersOptions = Omit<LoadWalkerOptions, 'checkpoint' | 'shareEncoder'>;

/** A trained walker, ready to answer; close it after use. */
export interface LoadedWalker {
  agent: Agent;
  graph: Graph;
  walks: WalkGraph;
  encoder: StateEncoder;
  /** Ids of its text encoders, distinct; several for an average of runs. */
  encoderIds: readonly string[];
  backend: WalkerParts['backend'];
  parts: WalkerParts;
  header: CheckpointHeader;
  rules: WalkRules;
  /** True where walks may leave the graph. */
  free: boolean;
  /** Scorer of walks of some tasks; absent with several threads. */
  scorerOf?: ((tasks: readonly WalkTask[]) => Promise<WalkScorer>) | undefined;
  close(): Promise<void>;
}

/**
 * Loads data, encoder, tables and weights; refuses a checkpoint of another graph, data set, encoder or order of slots.
 * @throws WorkbenchError `data` where something is missing or does not fit, `native` without a backend, `usage` for
 * several threads on a backend that has its own
 */
export async function loadWalkerRun(runFolder: string, options: LoadWalkerOptions): Promise<LoadedWalker> {
  const opened = openTrainedRun(runFolder, walkerRunSettings, options);
  const { folder, settings, header, tensors, file, openEncoder } = opened;
  const { beamWidth, twoHopBonus = 0, arkBeam = false, threads = 1, signal } = options;
  const perStep = settings.stateText.encode === 'per-step';
  if (threads > 1 && perStep) {
    throw new WorkbenchError('usage', `expected one thread with stateText.encode=per-step, got --threads ${threads}`, {
      hint: 'The language model, which takes nearly all of the time, uses the cores by itself: leave --threads out.',
    });
  }
  const dataset = loadDialogueDataset(settings.data.dataset);
  const graph = await dataset.loadGraph(settings.data.graph);
  const walks = walkGraph(graph, settings.env, dataset);
  const { shareEncoder } = options;
  const encoder = await (shareEncoder ? shareEncoder(settings.encoder, openEncoder) : openEncoder());
  const closeEncoder = async () => {
    if (!shareEncoder) await encoder.dispose();
  };
  try {
    const slots = slotOrder(settings, walks.graph);
    const expected = { graph: graph.hash, encoder: encoder.id, dataset: sourcesHash(dataset.manifest), slots };
    checkFits(header, expected, file);
    const wanted = options.backend ?? settings.backend;
    const size = sizeOf(settings, encoder.dim);
    const parts: WalkerParts = {
      settings,
      backend: threads === 1 ? (await openExecutor(wanted, size)).name : await threadableExecutor(wanted, size),
      tensors: Object.fromEntries(Object.entries(tensors).filter(([name]) => !name.startsWith(optimizerPrefix))),
      tables: readTables(folder),
      vocabulary: readVocabulary(folder),
      graph: graph.shared(),
      walkedRows: walks.selection && rowsOf(walks.graph),
      vectors: await encodeNames(encoder, graph, settings.walker, { settings: settings.encoder }),
      beamWidth,
      twoHopBonus,
      arkBeam,
    };
    const encode = (tasks: readonly WalkTask[]) =>
      encodeTasks(encoder, tasks, { settings: settings.encoder, walker: settings.walker });
    const alone = async () => {
      const openReader = (graph: Graph) => new StateReader(encoder, graph, settings.stateText, signal);
      const policy = await policyOf(parts, perStep ? openReader : undefined);
      const scorerOf = async (tasks: readonly WalkTask[]) =>
        walkScorer(perStep ? policy : { ...policy, featurizer: policy.featurizer.over(await encode(tasks)) });
      const agent = beamAgent(walks.graph, scorerOf, { name: settings.name, beamWidth, twoHopBonus, arkBeam });
      return { agent, scorerOf, close: async () => policy.head.dispose() };
    };
    const walker: Pick<LoadedWalker, 'agent' | 'scorerOf' | 'close'> =
      threads === 1 ? await alone() : threadedWalker(parts, { threads, encode, signal });
    const close = async () => {
      await walker.close();
      await closeEncoder();
    };
    const { backend } = parts;
    const encoderIds = [encoder.id];
    const [rules, free] = [walkRulesOf(settings.env), settings.walker.decoder === 'free'];
    return { ...walker, graph, walks, rules, free, encoder, encoderIds, backend, parts, header, close };
  } catch (error) {
    await closeEncoder();
    throw error;
  }
}

/**
 * One run, or several as one walker: the mean of their log-probabilities. Each has its own features and texts; encoders of equal settings are one.
 * @param runs at least one, over equal edges by equal rules
 * @throws as `loadWalkerRun`, and WorkbenchError `usage` for several threads, and for runs that compute on different backends
 */
export async function loadWalkers(
  runs: readonly { folder: string; checkpoint: string }[],
  options: LoadWalkersOptions,
): Promise<LoadedWalker> {
  const [only, ...more] = runs as [(typeof runs)[0], ...typeof runs];
  if (more.length === 0) return loadWalkerRun(only.folder, { ...options, checkpoint: only.checkpoint });
  if ((options.threads ?? 1) > 1) {
    throw new WorkbenchError('usage', `expected one thread for several runs as one, got --threads ${options.threads}`, {
      hint: 'Leave --threads out.',
    });
  }
  const encoders = new Map<string, Promise<StateEncoder>>();
  const shareEncoder: LoadWalkerOptions['shareEncoder'] = (settings, open) => {
    const key = JSON.stringify(settings);
    if (!encoders.has(key)) encoders.set(key, open());
    return encoders.get(key)!;
  };
  const members: LoadedWalker[] = [];
  const close = async () => {
    for (const member of members.splice(0)) await member.close();
    for (const encoder of encoders.values()) await (await encoder).dispose();
  };
  try {
    for (const { folder, checkpoint } of runs) {
      const member = await loadWalkerRun(folder, { ...options, checkpoint, shareEncoder });
      members.push(member);
      if (!member.free) continue;
      const hint = 'Walks of such a run may leave the graph; it answers alone.';
      const message = `expected runs that choose among edges, got walker.decoder=free, at ${folder}`;
      throw new WorkbenchError('usage', message, { hint });
    }
    const [first] = members as [LoadedWalker];
    const backends = [...new Set(members.map(({ backend }) => backend))];
    if (backends.length > 1) {
      // A tensor library has one backend at a time: the last one opened would compute for all.
      throw new WorkbenchError('usage', `expected runs that compute on one backend, got ${backends.join(' and ')}`, {
        hint: 'Name one for all, such as --backend simd.',
      });
    }
    const encoderIds = [...new Set(members.flatMap((member) => member.encoderIds))];
    const { graph } = first.walks;
    const scorerOf = async (tasks: readonly WalkTask[]): Promise<WalkScorer> => {
      const scorers = await Promise.all(members.map((member) => member.scorerOf!(tasks)));
      return { graph, rules: first.rules, actor: meanScorer(scorers.map(({ actor }) => ({ scorer: actor }))) };
    };
    return { ...first, agent: beamAgent(graph, scorerOf, { ...options, name: 'mean' }), encoderIds, scorerOf, close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

const rowsOf = ({ offsets, relations, tails }: Graph): AdjacencyRows => ({ offsets, relations, tails });

/** @throws WorkbenchError `usage` for executors that take several cores or a GPU by themselves and round by shapes of batches */
async function threadableExecutor(wanted: ExecutorName | 'auto', size: NetworkSize): Promise<ExecutorName> {
  const { name, executor } = await openExecutor(wanted, size);
  if (executor.rowsAreIndependent) return name;
  throw new WorkbenchError('usage', `expected the backend simd or wasm with several threads, got ${name}`, {
    hint: 'Native TensorFlow and GPUs compute in parallel by themselves: leave --threads out, or add --backend simd.',
  });
}
