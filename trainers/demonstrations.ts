/** Walks to be cloned, state by state: the golds of dialogues, and shortest paths that answer link queries. */
import type { Actor } from '../agents/actor.js';
import type { WalkFinder } from '../agents/exact-walker/exact-walker.js';
import type { FeaturizerParts, StateRequest } from '../agents/walker/features/featurizer.js';
import { madeFromSamples } from '../datasets/sample-source.js';
import type { WalkSample } from '../datasets/walk-sample.js';
import { LinkQueryBatch } from '../envs/link-query/link-query-batch.js';
import { type LinkQueryObservation, type LinkQueryWorld, placeOfEdge } from '../envs/link-query/world.js';
import { legalActions, numActions, stepsAlong, type WalkRules, type WalkState } from '../envs/dialogue-walk/rules.js';
import type { Graph } from '../src/kg/graph.js';
import { ShortestPaths } from '../src/kg/shortest-paths.js';
import { Rng } from '../src/run/seeds.js';
import type { CloneSettings, DemonstrationSettings } from './clone-settings.js';

/** What is done in a state. */
export interface Gold {
  /** Its place among the listed actions. */
  gold: number;
  /** Ascending places of the listed actions that are as good, itself among them; absent where it alone is. */
  alike?: Int32Array;
  /** ln of how many unlisted actions each listed one stands for: added to its logit. Absent when all are listed. */
  logWeights?: Float32Array;
}

/** States of some walks, and what is done in each. */
export interface ShownStates<Request> {
  requests: readonly Request[];
  golds: readonly Gold[];
  /** Of each state in the loss. */
  weights: ArrayLike<number>;
}

/** Walks as `clone` learns them. */
export interface ShownWalks<Request> {
  count: number;
  /** @param step of training, from 0: may list fewer actions; without it all are listed */
  states(places: Int32Array, step?: number): ShownStates<Request>;
  /** Walks whose loss on valid is asked for at once. */
  atOnce: number;
  /** Scores of a step that go through the network at once; default: what the actor says. */
  scoresAtOnce?: number;
}

/** A state of a gold walk. */
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
    /** Whether nothing but the gold is listed, as for a network that normalises over more than any list. Default false. */
    goldsAlone?: boolean;
  };

/** Gold walks of train and valid; hubs of train are sampled anew at every step. */
export function shownGolds(
  { graph, rules }: Pick<FeaturizerParts, 'graph' | 'rules'>,
  samples: Record<'train' | 'valid', readonly WalkSample[]>,
  { maxCandidates, twoHopWeight, linkedTurns, loss, goldsAlone = false }: ShownGoldSettings,
  seed: number,
): Record<'train' | 'valid', ShownWalks<StateRequest>> {
  const shown = (walks: readonly GoldWalk[]): ShownWalks<StateRequest> => ({
    count: walks.length,
    atOnce: 64,
    // Lists are short, and dropout goes through all of them in order.
    scoresAtOnce: Infinity,
    states: (places, step) => {
      const chosen = Array.from(places, (place) => walks[place]!);
      let golds = chosen.flatMap(({ states }) => states);
      if (goldsAlone) golds = golds.map((gold) => ({ ...gold, actions: Int32Array.of(gold.gold), gold: 0 }));
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
 * @param note called for each of them, with `madeFromSamples` of what they are for
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
 * One state a hop up to the horizon: gold walks that end earlier stay where they are. Empty where the gold is not in
 * the graph or longer than the horizon.
 */
export function goldStates({ task, gold }: WalkSample, graph: Graph, rules: WalkRules): GoldState[] {
  const steps = stepsAlong(graph, task.start, gold.path, rules) ?? [];
  return steps.map(({ state, action }) => ({ task, state, gold: action, recurs: true }));
}

/** All legal actions that lead where the gold one does count as it: parallel relations, and loops beside staying. */
export function withNode(gold: GoldState, graph: Graph, rules: WalkRules): GoldState {
  const { current } = gold.state;
  const [begin, degree] = [graph.offsets[current]!, graph.degree(current)];
  const tailOf = (action: number) => (action < degree ? graph.tails[begin + action]! : current);
  const node = tailOf(gold.gold);
  const legal =
    legalActions(graph, gold.state, rules) ??
    Int32Array.from({ length: numActions(graph, gold.state, rules) }, (_, i) => i);
  return { ...gold, alike: legal.filter((action) => tailOf(action) === node) };
}

/**
 * Lists at most `maxCandidates` actions of a state: the gold one, what is as good, staying, and a uniform sample of the others, each
 * standing for as many as were left out (sampled softmax with a uniform proposal). More where what is as good alone comes to
 * that many: all of it is listed, and one of the others.
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
  // One that is drawn stands for those that are not, however many must be listed.
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

/** A state of a walk that is known in whole, and what is done in it. */
export interface ShownStep<Request> extends Gold {
  request: Request;
}

/** Walks that are known state by state. @param atOnce walks whose loss is asked for at once */
export function shownSteps<Request>(
  walks: readonly (readonly ShownStep<Request>[])[],
  atOnce: number,
): ShownWalks<Request> {
  return {
    count: walks.length,
    atOnce,
    states: (places) => {
      const golds = Array.from(places).flatMap((place) => walks[place]!);
      return { golds, requests: golds.map(({ request }) => request), weights: golds.map(() => 1) };
    },
  };
}

/** Walks that answer link queries, in the actions of an environment. */
export interface Demonstrations {
  /** int32 [walks]: index of the query in the environment. */
  queries: Int32Array;
  /** int32 [walks, horizon]: what is done, as places in the lists of actions; walks that arrive early stay. */
  actions: Int32Array;
  /** Queries that were looked at. */
  asked: number;
  /** Those of them for which no walk of the horizon was found: nothing is shown of them. */
  unreachable: number;
}

/**
 * Shortest paths, drawn evenly, since the data say what is right and not how to get there, in which everything is legal: over the lists
 * of the environment, not over the edge that the query asks for, and ending at the answer.
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
 * Walks that are shown of the queries of an environment.
 * @param stream what the draws are named by
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
 * Walks of link queries, replayed in an environment of their own, so that states have the masks and paths of training. The
 * first states of all walks come first.
 * @param atOnce walks whose loss is asked for at once
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
    states: (places) => {
      if (!batch || batch.numEnvs < places.length) batch = new LinkQueryBatch(world, places.length);
      const requests: Request[] = [];
      const golds: Gold[] = [];
      const done = new Int32Array(places.length);
      let { observations } = batch.reset({ options: Array.from(places, (place) => ({ sample: queries[place]! })) });
      for (let hop = 0; hop < horizon; hop++) {
        for (let i = 0; i < places.length; i++) {
          done[i] = actions[places[i]! * horizon + hop]!;
          requests.push(requestOf(observations[i]!));
          golds.push({ gold: legalBefore(observations[i]!.actionMask, done[i]!) });
        }
        ({ observations } = batch.step(done));
      }
      return { requests, golds, weights: new Uint8Array(golds.length).fill(1) };
    },
  };
}

/** Place of an action among the legal ones of its mask. */
export function legalBefore(mask: Uint8Array, action: number): number {
  let legal = 0;
  for (let place = 0; place < action; place++) legal += mask[place]!;
  return legal;
}
