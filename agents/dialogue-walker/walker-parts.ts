/** Plain data of a trained walker, which threads can share. */
import { z } from 'zod';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { dataSettings, linkedTurnSettings } from '../../datasets/settings.js';
import { splitSamples, type WalkTask } from '../../datasets/walk-sample.js';
import { walkRulesOf } from '../../envs/dialogue-walk/rules.js';
import { envSettings, stateTextSettings } from '../../envs/settings.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import type { AdjacencyRows } from '../../src/kg/adjacency.js';
import { Graph, type SharedGraph } from '../../src/kg/graph.js';
import { inSharedMemory, serveJobs, startWorkers } from '../../src/run/worker-pool.js';
import type { Executor } from '../../src/nn/executor.js';
import { type ExecutorName, executorNames, type NetworkSize, openExecutor } from '../../src/nn/open-executor.js';
import type { StoredTensors } from '../../src/nn/parameters.js';
import type { Agent, Answer, GivenWalks } from '../agent.js';
import type { FrozenVectors } from './features/dialogue-scratch.js';
import { contextDimOf, type TaskVectors } from './features/featurizer.js';
import type { FrozenTables } from './heads/head.js';
import { inputsOf, restoredPolicy, wideDegreesOf } from './inputs.js';
import { linkedTurnsOf } from './linked-turns.js';
import type { Policy, StateReader } from './policy.js';
import { walkerSettings } from './settings.js';
import type { Vocabulary } from './words/said-words.js';
import { tasksPerBatch, walkerAgent } from './agent.js';

/** The settings of a run that loading needs; others may be there. */
export const walkerRunSettings = z.object({
  name: z.string(),
  backend: z.enum(['auto', ...executorNames]),
  data: dataSettings,
  env: envSettings,
  stateText: stateTextSettings.prefault({}),
  encoder: encoderSettings,
  walker: walkerSettings,
  clone: z.object({ linkedTurns: linkedTurnSettings.nullable().default(null) }).prefault({}),
});

const statesAtOnce = 64;

/** Network size for `backend: auto`. @param dim of the encoder's vectors */
export function sizeOf(
  { walker, stateText }: Pick<WalkerParts['settings'], 'walker' | 'stateText'>,
  dim: number,
): NetworkSize {
  const inputs = contextDimOf(dim, stateText.encode === 'per-step');
  return { rows: statesAtOnce, inputs, units: walker.width };
}

export interface WalkerParts {
  settings: z.output<typeof walkerRunSettings>;
  backend: ExecutorName | 'auto';
  tensors: StoredTensors;
  tables: FrozenTables | undefined;
  vocabulary: Vocabulary | undefined;
  /** Its arrays are the same memory in every thread. */
  graph: SharedGraph;
  /** Rows of the graph that walks may take, shared alike; absent where those are all. */
  walkedRows: AdjacencyRows | undefined;
  vectors: FrozenVectors;
  beamWidth: number;
  twoHopBonus: number;
  arkBeam: boolean;
}

/** Parts of one policy, without its graph. */
export type PolicyParts = Pick<
  WalkerParts,
  'settings' | 'tensors' | 'tables' | 'vocabulary' | 'vectors' | 'walkedRows'
>;

/** Samples and degrees of the data set that a policy is made of. */
export type PolicySources = Pick<Parameters<typeof inputsOf>[1], 'train' | 'linked' | 'wideDegrees'>;

/** @throws WorkbenchError `data` for a data set that is gone */
export async function policySources({ settings }: Pick<WalkerParts, 'settings'>, graph: Graph): Promise<PolicySources> {
  const dataset = loadDialogueDataset(settings.data.dataset);
  const train = splitSamples(dataset, graph, settings.data, 'train');
  const linked = linkedTurnsOf(dataset, graph, train, settings.data, settings.clone.linkedTurns);
  return { train, linked, wideDegrees: await wideDegreesOf(dataset, graph, settings.walker) };
}

/** Builds the policy; the caller disposes its head. @throws WorkbenchError `data` for weights of other settings */
export async function policyOf(
  parts: WalkerParts,
  openReader?: (graph: Graph) => StateReader | undefined,
): Promise<Policy> {
  const graph = Graph.fromShared(parts.graph);
  const { executor } = await openExecutor(parts.backend, sizeOf(parts.settings, parts.vectors.dim));
  return policyFrom(executor, parts, graph, await policySources(parts, graph), openReader);
}

/** The same from sources that are loaded: reads no file. */
export async function policyFrom(
  executor: Executor,
  { settings, tensors, tables, vocabulary, vectors, walkedRows }: PolicyParts,
  graph: Graph,
  sources: PolicySources,
  openReader?: (graph: Graph) => StateReader | undefined,
): Promise<Policy> {
  const walked = walkedRows ? graph.withRows(walkedRows) : graph;
  const inputs = await inputsOf(vectors, {
    settings: settings.walker,
    graph,
    walks: { graph: walked },
    rules: walkRulesOf(settings.env),
    ...sources,
    tables,
    vocabulary,
    maxActions: settings.env.maxOut,
    reader: openReader?.(walked),
  });
  return restoredPolicy(executor, inputs, tensors);
}

/** Job of a thread: answers to tasks, or log-probabilities of given walks. */
type WalkerJob = ({ tasks: WalkTask[] } | { given: GivenWalks[] }) & { texts: TaskVectors };

interface ThreadedWalkerOptions {
  threads: number;
  /** Encodes the texts of tasks in this thread, so that no other one opens a language model. */
  encode(tasks: readonly WalkTask[]): Promise<TaskVectors>;
  signal?: AbortSignal | undefined;
}

/**
 * Each thread builds the policy; graph, weights, tables and vectors lie in shared memory. Tasks are walked in
 * the groups of one thread, so answers are the same to the bit.
 * @returns the agent, whose `answer` throws a fatal `failure` once a thread has died; and `close`, which ends the threads
 */
export function threadedWalker(
  parts: WalkerParts,
  { threads, encode, signal }: ThreadedWalkerOptions,
): { agent: Agent; close(): Promise<void> } {
  const pool = startWorkers<WalkerJob, Answer[] | number[][]>({
    work: 'the evaluation',
    module: new URL(import.meta.url),
    threads,
    // The graph lies in shared memory already.
    data: {
      ...inSharedMemory({ ...parts, graph: undefined, walkedRows: undefined }),
      graph: parts.graph,
      walkedRows: parts.walkedRows,
    },
    memoryHint: 'Lower --threads: every thread holds dialogues and beams. Or lower --beam-width.',
    signal,
  });
  /** @param jobOf makes the job of some of them */
  const inGroups = async <T extends object, R>(
    all: readonly T[],
    tasks: readonly WalkTask[],
    jobOf: (group: T[]) => Omit<WalkerJob, 'texts'>,
    onProgress?: (done: number) => void,
  ): Promise<R[]> => {
    const { rowOf, ...encoded } = await encode(tasks);
    const texts = { ...inSharedMemory(encoded), rowOf };
    let done = 0;
    const groups: Promise<R[]>[] = [];
    for (let begin = 0; begin < all.length; begin += tasksPerBatch) {
      const job = { ...jobOf(all.slice(begin, begin + tasksPerBatch)), texts } as WalkerJob;
      groups.push(
        pool.run(job).then((results) => {
          onProgress?.((done += results.length));
          return results as R[];
        }),
      );
    }
    return (await Promise.all(groups)).flat();
  };
  const agent: Agent = {
    name: parts.settings.name,
    answer: (tasks, onProgress) => inGroups(tasks, tasks, (group) => ({ tasks: group }), onProgress),
    logProbs: (given) => {
      const tasks = given.map(({ task }) => task);
      return inGroups(given, tasks, (group) => ({ given: group }));
    },
  };
  return { agent, close: () => pool.close() };
}

serveJobs(import.meta.url, async (parts: WalkerParts) => {
  const policy = await policyOf(parts);
  const agent = walkerAgent(policy, { ...parts, name: parts.settings.name });
  return ({ texts, ...job }: WalkerJob): Promise<Answer[] | number[][]> => {
    policy.featurizer.texts = texts;
    return 'given' in job ? agent.logProbs!(job.given) : agent.answer(job.tasks);
  };
});
