/** Walks that answer link queries as demonstrations for cloning: shortest paths, or those of an exact walker. */
import { LinkQueryBatch } from '../../envs/link-query/link-query-batch.js';
import { type LinkQueryObservation, type LinkQueryWorld, placeOfEdge } from '../../envs/link-query/world.js';
import { ShortestPaths } from '../../src/kg/paths-between.js';
import { Rng } from '../../src/run/seeds.js';
import type { Actor } from '../../trainers/actor.js';
import { type Gold, legalBefore, type ShownWalks } from '../../trainers/clone.js';
import type { WalkFinder } from '../exact-walker/exact-walker.js';
import type { DemonstrationSettings } from './settings.js';

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
