/**
 * Demonstrated walks for cloning, state by state: gold walks of dialogues, and shortest paths that answer link queries.
 */
import type { Actor } from '../agents/actor.js';
import type { WalkFinder } from '../agents/exact-walker/exact-walker.js';
import type { FeaturizerParts, StateRequest } from '../agents/walker/features/featurizer.js';
import { madeFromSamples } from '../datasets/sample-source.js';
import type { WalkSample } from '../datasets/walk-sample.js';
import { LinkQueryBatch } from '../envs/link-query/link-query-batch.js';
import { type LinkQueryObservation, type LinkQueryWorld, placeOfEdge } from '../envs/link-query/world.js';
import { numActions, stepsAlong, type WalkRules, type WalkState } from '../envs/dialogue-walk/rules.js';
import type { Graph } from '../src/kg/graph.js';
import { ShortestPaths } from '../src/kg/paths-between.js';
import { Rng } from '../src/run/seeds.js';
import type { CloneSettings, DemonstrationSettings } from './clone-settings.js';

/** Demonstrated action of a state. */
export interface Gold {
  /** Its position among the listed actions. */
  gold: number;
  /** Ascending positions of the equally good listed actions, itself included; absent if there is no other. */
  alike?: Int32Array;
  /**
   * ln of the number of unlisted actions represented by each listed one: added to its logit. Absent when all are
   * listed.
   */
  logWeights?: Float32Array;
}

/** States of some walks, with their demonstrated actions. */
interface ShownStates<Request> {
  requests: readonly Request[];
  golds: readonly Gold[];
  /** Loss weight of each state. */
  weights: ArrayLike<number>;
}

/** Demonstrated walks as input of `clone`. */
export interface ShownWalks<Request> {
  count: number;
  /** @param step of training, from 0: may list fewer actions; without it all are listed */
  states(indices: Int32Array, step?: number): ShownStates<Request>;
  /** Walks per batch when computing the loss on valid. */
  atOnce: number;
  /** Maximum number of scores per forward pass; default: the actor's limit. */
  maxScoresPerBatch?: number;
}

/** State of a gold walk. */
export interface GoldState extends StateRequest, Gold {
  state: WalkState;
}

/** All states of one gold walk. */
export interface GoldWalk {
  states: GoldState[];
  /** Edges of the gold path. */
  hops: number;
}

type ShownGoldSettings = Pick<CloneSettings, 'maxCandidates' | 'twoHopWeight'> &
  Partial<Pick<CloneSettings, 'linkedTurns' | 'loss'>> & {
    /** Lists only the gold action, for a network that normalises over more than any list. Default false. */
    goldOnly?: boolean;
  };

/** Gold walks of train and valid; the actions of hubs in train are sampled again at every step. */
export function shownGolds(
  { graph, rules }: Pick<FeaturizerParts, 'graph' | 'rules'>,
  samples: Record<'train' | 'valid', readonly WalkSample[]>,
  { maxCandidates, twoHopWeight, linkedTurns, loss, goldOnly = false }: ShownGoldSettings,
  seed: number,
): Record<'train' | 'valid', ShownWalks<StateRequest>> {
  const shown = (walks: readonly GoldWalk[]): ShownWalks<StateRequest> => ({
    count: walks.length,
    atOnce: 64,
    // Lists are short, and dropout draws run through all of them in order.
    maxScoresPerBatch: Infinity,
    states: (indices, step) => {
      const chosen = Array.from(indices, (index) => walks[index]!);
      let golds = chosen.flatMap(({ states }) => states);
      if (goldOnly) golds = golds.map((gold) => ({ ...gold, actions: Int32Array.of(gold.gold), gold: 0 }));
      else if (step !== undefined) {
        const rng = Rng.named(seed, 'clone/candidates', step);
        golds = golds.map((gold) => sampleCandidates(gold, graph, rules, maxCandidates, rng));
      }
      const weights = chosen.flatMap(({ states, hops }) => {
        const ofTurn = states[0]!.task.linked ? (linkedTurns?.weight ?? 1) : 1;
        return states.map(() => (hops > 1 ? twoHopWeight : 1) * ofTurn);
      });
      return { requests: golds, golds, weights };
    },
  });
  const train = goldWalks(samples.train, graph, rules, madeFromSamples('training', 'cloning'));
  if (loss === 'nodes') for (const walk of train) walk.states = walk.states.map((gold) => withNode(gold, graph, rules));
  return {
    train: shown(train),
    valid: shown(goldWalks(samples.valid, graph, rules, madeFromSamples('choice', 'loss after an epoch'))),
  };
}

/**
 * Gold walks of all samples that have one in the graph.
 * @param note called for each of them, with `madeFromSamples` of their purpose
 */
export function goldWalks(
  samples: readonly WalkSample[],
  graph: Graph,
  rules: WalkRules,
  note?: (sample: WalkSample) => void,
): GoldWalk[] {
  return samples.flatMap((sample) => {
    const states = goldStates(sample, graph, rules);
    if (states.length === 0) return [];
    note?.(sample);
    return [{ states, hops: sample.gold.path.length }];
  });
}

/**
 * One state per hop up to the horizon: shorter gold walks stay at their end. Empty if the gold is not in the graph or
 * longer than the horizon.
 */
export function goldStates({ task, gold }: WalkSample, graph: Graph, rules: WalkRules): GoldState[] {
  const steps = stepsAlong(graph, task.start, gold.path, rules) ?? [];
  return steps.map(({ state, action }) => ({ task, state, gold: action, recurs: true }));
}

/**
 * Every legal action with the gold action's target counts as gold: parallel relations, and loops as well as staying.
 */
export function withNode(gold: GoldState, graph: Graph, rules: WalkRules): GoldState {
  const { current } = gold.state;
  const [begin, degree] = [graph.offsets[current]!, graph.degree(current)];
  const tailOf = (action: number) => (action < degree ? graph.tails[begin + action]! : current);
  const node = tailOf(gold.gold);
  const all = Int32Array.from({ length: numActions(graph, gold.state, rules) }, (_, i) => i);
  return { ...gold, alike: all.filter((action) => tailOf(action) === node) };
}

/**
 * Lists at most `maxCandidates` actions of a state: the gold one, the equally good ones, staying, and a uniform sample
 * of the others, each representing an equal share of the omitted ones (sampled softmax with a uniform proposal). The
 * list is longer if the equally good actions alone reach the limit: all of them are listed, and one of the others.
 */
export function sampleCandidates(
  gold: GoldState,
  graph: Graph,
  rules: WalkRules,
  maxCandidates: number,
  rng: Rng,
): GoldState {
  const count = numActions(graph, gold.state, rules);
  const degree = graph.degree(gold.state.current);
  const always = new Set([gold.gold, ...(gold.alike ?? []), ...(count > degree ? [degree] : [])]);
  // Drawn actions represent the omitted ones, regardless of the number of obligatory ones.
  const most = gold.alike ? Math.max(maxCandidates, always.size + 1) : maxCandidates;
  if (count <= most) return gold;
  const others = count - always.size;
  const drawn = new Set<number>(always);
  while (drawn.size < most) drawn.add(rng.integer(count));
  const actions = Int32Array.from(drawn).sort();
  const weight = Math.log(others / (most - always.size));
  return {
    ...gold,
    actions,
    gold: actions.indexOf(gold.gold),
    ...(gold.alike && { alike: gold.alike.map((action) => actions.indexOf(action)) }),
    logWeights: Float32Array.from(actions, (action) => (always.has(action) ? 0 : weight)),
  };
}

/** State of a fully known walk, and its action. */
export interface ShownStep<Request> extends Gold {
  request: Request;
}

/** Fully known walks. @param atOnce walks per batch when computing the loss */
export function shownSteps<Request>(
  walks: readonly (readonly ShownStep<Request>[])[],
  atOnce: number,
): ShownWalks<Request> {
  return {
    count: walks.length,
    atOnce,
    states: (indices) => {
      const golds = Array.from(indices).flatMap((index) => walks[index]!);
      return { golds, requests: golds.map(({ request }) => request), weights: golds.map(() => 1) };
    },
  };
}

/** Walks that answer link queries, in the actions of an environment. */
export interface Demonstrations {
  /** int32 [walks]: index of the query in the environment. */
  queries: Int32Array;
  /** int32 [walks, horizon]: actions as positions in the lists; walks that arrive early stay. */
  actions: Int32Array;
  /** Number of queries searched. */
  asked: number;
  /** Queries without a walk within the horizon: they give no demonstration. */
  unreachable: number;
}

/**
 * Shortest legal paths to the answer, drawn uniformly, since the data give answers and no paths: over the environment's
 * action lists, never over the edge of the query itself.
 * @source Xiong et al. 2017 (DeepPath), section 3.3: breadth-first paths as a warm start for the policy gradient
 */
function shortestWalks(world: LinkQueryWorld): WalkFinder {
  const { horizon, hidePairs } = world;
  const finder = new ShortestPaths(world);
  return ({ head, relation, tail, hidden }, most, rng) => {
    const own = hidden ? relation : undefined;
    return finder.between(head, tail, { horizon, hidden: hidePairs ? 'all' : own, most, rng });
  };
}

/**
 * Demonstrated walks for the queries of an environment.
 * @param stream name of the random stream of the draws
 * @param find default: shortest paths
 */
export function demonstrationsOf(
  world: LinkQueryWorld,
  { paths: most, queries: limit }: Pick<DemonstrationSettings, 'paths' | 'queries'>,
  seed: number,
  stream: string,
  find = shortestWalks(world),
): Demonstrations {
  const { queries, horizon, hiddenForward } = world;
  const rng = Rng.named(seed, `${stream}/paths`);
  const asked = chosenQueries(queries.heads.length, limit, Rng.named(seed, `${stream}/queries`));
  const [shown, actions]: [number[], number[]] = [[], []];
  let unreachable = 0;
  for (const query of asked) {
    const [head, relation, tail] = [queries.heads[query]!, queries.relations[query]!, queries.tails[query]!];
    const paths = find({ head, relation, tail, hidden: hiddenForward[query]! >= 0 }, most, rng).filter(
      ({ length }) => length <= 2 * horizon,
    );
    if (paths.length === 0) unreachable++;
    for (const path of paths) {
      shown.push(query);
      appendActions(world, head, path, actions);
    }
  }
  return { queries: Int32Array.from(shown), actions: Int32Array.from(actions), asked: asked.length, unreachable };
}

function chosenQueries(count: number, limit: number | null, rng: Rng): Int32Array {
  const all = Int32Array.from({ length: count }, (_, query) => query);
  return limit === null || limit >= count ? all : rng.shuffle(all).subarray(0, limit).sort();
}

function appendActions(world: LinkQueryWorld, head: number, path: Int32Array, actions: number[]): void {
  const { offsets, horizon } = world;
  let current = head;
  for (let at = 0; at < path.length; at += 2) {
    actions.push(placeOfEdge(world, current, path[at]!, path[at + 1]!));
    current = path[at + 1]!;
  }
  const stay = offsets[current + 1]! - offsets[current]!;
  for (let step = path.length / 2; step < horizon; step++) actions.push(stay);
}

/**
 * Walks of link queries, replayed in a separate environment, so that states have the masks and paths of training. The
 * first states of all walks come first.
 * @param atOnce walks per batch when computing the loss
 */
export function shownDemonstrations<Request>(
  world: LinkQueryWorld,
  { queries, actions }: Demonstrations,
  { requestOf }: Pick<Actor<LinkQueryObservation, Request>, 'requestOf'>,
  atOnce: number,
): ShownWalks<Request> {
  const { horizon } = world;
  let batch: LinkQueryBatch | undefined;
  return {
    count: queries.length,
    atOnce,
    states: (indices) => {
      if (!batch || batch.numEnvs < indices.length) batch = new LinkQueryBatch(world, indices.length);
      const requests: Request[] = [];
      const golds: Gold[] = [];
      const done = new Int32Array(indices.length);
      let { observations } = batch.reset({ options: Array.from(indices, (index) => ({ sample: queries[index]! })) });
      for (let hop = 0; hop < horizon; hop++) {
        for (let i = 0; i < indices.length; i++) {
          done[i] = actions[indices[i]! * horizon + hop]!;
          requests.push(requestOf(observations[i]!));
          golds.push({ gold: legalBefore(observations[i]!.actionMask, done[i]!) });
        }
        ({ observations } = batch.step(done));
      }
      return { requests, golds, weights: new Uint8Array(golds.length).fill(1) };
    },
  };
}

/** Position of an action among the legal ones of its mask. */
export function legalBefore(mask: Uint8Array, action: number): number {
  let legal = 0;
  for (let index = 0; index < action; index++) legal += mask[index]!;
  return legal;
}
