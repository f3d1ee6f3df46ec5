/** A trained relation walker as an agent that answers questions. */
import type { QuestionTask } from '../../datasets/question.js';
import { type FrontierNode, frontierTrie, type FrontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import {
  applyRelation,
  initialRelationState,
  relationActionMask,
  type RelationWalkRules,
  type RelationWalkState,
} from '../../envs/relation-walk/rules.js';
import { relationWalkSettings } from '../../envs/settings.js';
import { questionRoot, relationWalkId } from '../../envs/relation-walk/relation-walk-env.js';
import type { StateEncoder } from '../../src/encoder/state-encoder.js';
import { entitiesOf, type Frontier } from '../../src/kg/frontier.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { openRun } from '../../src/run/run-folder.js';
import { segmentLogSoftmax } from '../../src/nn/categorical.js';
import type { Executor } from '../../src/nn/executor.js';
import { openExecutor } from '../../src/nn/open-executor.js';
import type { StoredTensors } from '../../src/nn/parameters.js';
import { chainAnswer, noAnswer, type QuestionAgent, type RelationRanker } from '../question-agent.js';
import type { RunCheckpoint } from '../method.js';
import { type LoadedQuestionWalker, loadQuestionWalker, type QuestionOptions } from '../trained-run.js';
import { readBasis, type ReaderBasis } from '../readers/facts.js';
import { LanguageNetwork } from './language/language-network.js';
import { openWalkModel, type WalkModel } from './language/walk-model.js';
import { type RelationNetwork, type RelationReader, relationReader, SentenceNetwork } from './network.js';
import { readScale, ScaledTexts, type VectorScale } from './question-vectors.js';
import { type RelationWalkerSettings, relationWalkerSettings, trainsModel } from './settings.js';
import { wordFacts, WordNetwork } from './word-network.js';

interface RelationWalkerAgentOptions {
  name: string;
  graph: Graph;
  /** Frontiers; may be shared with an environment over the same graph. */
  frontiers: FrontierTrie;
  rules: RelationWalkRules;
  reader: RelationReader;
  /** Walks followed at once; 1 is greedy, as the recipe has it. Default 1. */
  beamWidth?: number;
  note?: string;
}

/**
 * Inputs: the question with `[E]` for its topic, and the topic. Calls: none; one text vector a question. It walks the most
 * probable relations from the topic until it chooses STOP or reaches the horizon. Output: everything at the end, in
 * canonical order, with the relations, one path of facts an answer and the probability of the walk.
 *
 * Weights are those that `reader` has. Truth questions are abstained from: it finds entities.
 */
export function relationWalkerAgent(options: RelationWalkerAgentOptions): QuestionAgent {
  const { name, graph, frontiers, reader, beamWidth = 1, note } = options;
  return {
    name,
    note,
    topicGiven: true,
    hopSource: () => (options.rules.hops === 'given' ? 'given' : 'none'),
    prompted: false,
    prepare: (tasks, signal) => reader.prepare(tasks, signal),
    async answer(task, { trace, signal }) {
      if (task.form !== 'entities') return noAnswer('form');
      trace({ event: 'start', entities: questionRoot(frontiers, task).topics });
      const { chains, graphReads } = await beamOf(options, task, beamWidth, signal);
      const [best] = chains;
      if (!best) return noAnswer('no topic');
      const { node, logProb, stopped } = best;
      for (const relation of node.relations) {
        trace({ event: 'graph', operation: `follow ${graph.relationNames[relation]!}`, reads: 1 });
      }
      const stop = stopped ? 'stop' : 'depth';
      trace({ event: 'stop', reason: stop });
      return chainAnswer(graph, node, { stop, confidence: Math.exp(logProb), cost: { encodes: 1, graphReads } });
    },
  };
}

type Walking = Pick<RelationWalkerAgentOptions, 'graph' | 'frontiers' | 'rules' | 'reader'>;

/** The most probable walks of a question, and how many states were scored for them; none where nothing is legal at the start. */
async function beamOf(
  { graph, frontiers, rules, reader }: Walking,
  task: QuestionTask,
  width: number,
  signal: AbortSignal | undefined,
): Promise<{ chains: RankedChain[]; graphReads: number }> {
  const root = questionRoot(frontiers, task);
  const ensure = (reached: readonly Frontier[]) => graph.ensure(entitiesOf(reached), signal);
  await ensure([root.frontier]);
  const initial = initialRelationState(root, rules, task.hops);
  if (initial.done) return { chains: [], graphReads: 0 };
  const behind = await reader.of(task, signal);
  let graphReads = 0;
  const scores = (relations: Int32Array, mask: Uint8Array) => {
    graphReads++;
    return behind(relations, mask);
  };
  return { chains: await decodeChains(initial, scores, width, ensure), graphReads };
}

/** Probabilities of given relations, renormalised over them, and the walker's own walks. */
function relationRanker(options: Walking): RelationRanker {
  const { reader } = options;
  return {
    hopsGiven: options.rules.hops === 'given',
    prepare: (tasks, signal) => reader.prepare(tasks, signal),
    async shares(task, walked, relations, signal) {
      if (walked.length >= options.rules.horizon) return undefined;
      const mask = new Uint8Array(options.graph.numRelations + 1);
      for (const relation of relations) mask[relation] = 1;
      const scores = await (await reader.of(task, signal))(walked, mask);
      const ends = Int32Array.of(0, relations.length);
      const logProbs = segmentLogSoftmax(
        Float32Array.from(relations, (relation) => scores[relation]!),
        ends,
      );
      return Float64Array.from(logProbs, Math.exp);
    },
    async walks(task, count, hops, signal) {
      const rules = hops === undefined ? options.rules : { ...options.rules, hops: 'given' as const };
      const asked = hops === undefined ? task : { ...task, hops };
      const { chains } = await beamOf({ ...options, rules }, asked, count, signal);
      return chains.map(({ node, logProb }) => ({ relations: [...node.relations], probability: Math.exp(logProb) }));
    },
  };
}

interface RankedChain {
  node: FrontierNode;
  /** Log-probability of the walk, its STOP included. */
  logProb: number;
  /** True where it ended by STOP; else by the horizon. */
  stopped: boolean;
}

/**
 * The `beamWidth` most probable walks that are found, best first. At each step the best extensions are kept, finished walks
 * among them: width 1 is greedy. Equal ones keep the order of their beginnings, then of their actions.
 * @param scores of legal actions behind the relations walked: float32 [numRelations + 1]
 * @param ensure awaited before the edges of frontiers are read, those of `initial` aside
 * @returns empty where nothing is legal at the start
 */
export async function decodeChains(
  initial: RelationWalkState,
  scores: (relations: Int32Array, mask: Uint8Array) => Float32Array | Promise<Float32Array>,
  beamWidth: number,
  ensure: (frontiers: readonly Frontier[]) => Promise<void>,
): Promise<RankedChain[]> {
  interface Walk {
    state: RelationWalkState;
    logProb: number;
    stopped: boolean;
  }
  let beam: Walk[] = [{ state: initial, logProb: 0, stopped: false }];
  if (initial.done) return [];
  while (beam.some(({ state }) => !state.done)) {
    const open: { from: Walk; action: number; logProb: number }[] = [];
    for (const walk of beam) {
      if (walk.state.done) {
        open.push({ from: walk, action: -1, logProb: walk.logProb });
        continue;
      }
      const mask = relationActionMask(walk.state);
      const all = await scores(walk.state.node.relations, mask);
      const legal = Int32Array.from(mask.keys()).filter((action) => mask[action] === 1);
      const logProbs = segmentLogSoftmax(
        Float32Array.from(legal, (action) => all[action]!),
        Int32Array.of(0, legal.length),
      );
      legal.forEach((action, i) => open.push({ from: walk, action, logProb: walk.logProb + logProbs[i]! }));
    }
    open.sort((a, b) => b.logProb - a.logProb);
    // Frontiers are computed for what is kept alone.
    beam = open.slice(0, beamWidth).map(({ from, action, logProb }) => {
      if (action < 0) return from;
      const state = applyRelation(from.state, action);
      return { state, logProb, stopped: state.node === from.state.node };
    });
    await ensure(beam.flatMap(({ state: { done, node } }) => (done ? [] : [node.frontier])));
  }
  return beam.map(({ state: { node }, logProb, stopped }) => ({ node, logProb, stopped }));
}

const sections = { relationWalk: relationWalkSettings, relationWalker: relationWalkerSettings };

/** Plain data of a trained relation walker. */
export interface RelationWalkerParts {
  name: string;
  settings: RelationWalkerSettings;
  rules: RelationWalkRules;
  /** Bound of the frontiers that are kept. */
  memoryMegabytes: number;
  tensors: StoredTensors;
  /** Scale of vectors, with reads=sentence. */
  scale?: VectorScale;
  /** Basis of word vectors, with reads=words. */
  basis?: ReaderBasis;
}

/** A relation walker's run, as an agent and as a judge of relations. */
export interface LoadedRelationWalker extends LoadedQuestionWalker {
  ranker: RelationRanker;
  walking: Walking;
  parts: RelationWalkerParts;
}

/** @param options default beam width 1: greedy @throws as `loadQuestionWalker`, and WorkbenchError `data` for an untrained run */
function loadRelationWalkerRun(run: RunCheckpoint, options: QuestionOptions): Promise<LoadedRelationWalker> {
  return loadQuestionWalker(
    run,
    sections,
    options,
    async ({ folder, settings, tensors, graph, encoder }) => {
      const { name, relationWalk, relationWalker } = settings;
      const { horizon, hops, memoryMegabytes } = relationWalk;
      // One question at a time, which no card pays for.
      const { executor } = await openExecutor(options.backend ?? 'simd');
      const parts: RelationWalkerParts = {
        ...{ name, settings: relationWalker, rules: { horizon, hops }, memoryMegabytes, tensors },
        ...(relationWalker.reads === 'words' && { basis: readBasis(folder) }),
        ...(relationWalker.reads === 'sentence' && { scale: readScale(folder) }),
      };
      const place = options.modelPath ?? settings.encoder.model;
      const model = trainsModel(settings)
        ? await openWalkModel(executor, place, graph.relationNames, relationWalker)
        : undefined;
      const walking = walkingOf(parts, executor, graph, encoder, model);
      const agent = relationWalkerAgent({ name, ...walking, beamWidth: options.beamWidth ?? 1 });
      const dispose = () => void model?.dispose();
      return { agent, ranker: relationRanker(walking), walking, parts, dispose };
      // A language model reads words alone.
    },
    (settings) => !trainsModel(settings),
  );
}

/** A walker from its parts: reads no file. @param model of one that is a language model */
export function walkingOf(
  parts: RelationWalkerParts,
  executor: Executor,
  graph: Graph,
  encoder: StateEncoder,
  model?: WalkModel,
): Walking {
  const { rules, memoryMegabytes } = parts;
  const reader = relationReader(restoredNetwork(parts, executor, graph, encoder, model));
  return { graph, reader, rules, frontiers: frontierTrie(graph, memoryMegabytes * 2 ** 20) };
}

/** One run, or several as one walker: the mean of their log-probabilities at every step. @throws WorkbenchError `usage` for other rules */
export async function loadRelationWalkers(
  runs: readonly RunCheckpoint[],
  options: QuestionOptions,
): Promise<LoadedQuestionWalker> {
  if (runs.length === 1) return loadRelationWalkerRun(runs[0]!, options);
  const members: LoadedRelationWalker[] = [];
  const close = async () => {
    for (const member of members) await member.close();
  };
  try {
    for (const run of runs) {
      const graph = members[0]?.graph ?? options.graph;
      members.push(await loadRelationWalkerRun(run, { ...options, ...(graph && { graph }) }));
    }
    const [first] = members as [LoadedRelationWalker];
    const rulesOf = ({ walking: { rules } }: LoadedRelationWalker) => `${rules.horizon} relations, hops ${rules.hops}`;
    const other = members.find((member) => rulesOf(member) !== rulesOf(first));
    if (other) {
      throw new WorkbenchError(
        'usage',
        `expected runs that walk by the same rules, got ${rulesOf(first)} and ${rulesOf(other)}`,
        { hint: 'Average runs with the same relationWalk.horizon and relationWalk.hops.' },
      );
    }
    const name = members.map(({ agent }) => agent.name).join('+');
    const reader = meanReader(members.map(({ walking }) => walking.reader));
    const beamWidth = options.beamWidth ?? 1;
    const agent = relationWalkerAgent({ name, ...first.walking, reader, beamWidth });
    return { ...first, agent, encoderIds: [...new Set(members.map(({ encoder }) => encoder.id))], close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Scores and masked log-probabilities differ by a constant per state; so do their means. */
const meanReader = (readers: readonly RelationReader[]): RelationReader => ({
  async prepare(tasks, signal) {
    for (const reader of readers) await reader.prepare(tasks, signal);
  },
  async of(task, signal) {
    const behind = await Promise.all(readers.map((reader) => reader.of(task, signal)));
    return async (relations, mask) => {
      const all = await Promise.all(behind.map((scores) => scores(relations, mask)));
      return all[0]!.map((_, action) => all.reduce((sum, scores) => sum + scores[action]!, 0) / all.length);
    };
  },
});

function restoredNetwork(
  { settings, rules, tensors, scale, basis }: RelationWalkerParts,
  executor: Executor,
  graph: Graph,
  encoder: StateEncoder,
  model?: WalkModel,
): RelationNetwork {
  const shape = { numRelations: graph.local.numRelations, horizon: rules.horizon };
  const network = model
    ? new LanguageNetwork(model, shape, 0)
    : basis
      ? new WordNetwork(executor, wordFacts(settings, encoder), shape, basis, 0)
      : new SentenceNetwork(executor, settings, shape, new ScaledTexts(encoder, scale!, settings.maxTokens));
  network.parameters.import(tensors);
  return network;
}

/**
 * A run as a judge of relations for agents over `graph`.
 * @param of the data set that those agents are asked about
 * @throws as `loadRelationWalkerRun`, and WorkbenchError `usage` for a run of another data set or one that does not walk relations
 */
export function loadRelationRanker(
  { folder, checkpoint }: RunCheckpoint,
  of: { dataset: string; graph: Graph },
  options: Pick<QuestionOptions, 'modelPath'>,
): Promise<LoadedRelationWalker> {
  const { id, config } = openRun(folder);
  const { env, data, reader } = config as { env?: { id?: string }; data?: { dataset?: string }; reader?: unknown };
  const walks = env?.id ?? relationWalkId;
  if (walks !== relationWalkId || reader !== undefined || data?.dataset === undefined) {
    throw new WorkbenchError('usage', `expected a run that walks relations, got ${id}, which does not`, {
      hint: 'Train one: `kgwalk train metaqa` does, and presets whose env.id is kgwalk/RelationWalk-v1.',
    });
  }
  if (data.dataset !== of.dataset) {
    throw new WorkbenchError(
      'usage',
      `expected a run of ${of.dataset}, got ${id}, which was trained on ${data.dataset}`,
      {
        hint: 'A walker is trained for the relations of one graph: train one on this data set, or evaluate on that one.',
      },
    );
  }
  return loadRelationWalkerRun({ folder, checkpoint }, { ...options, graph: of.graph });
}
