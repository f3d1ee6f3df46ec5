/**
 * Walks that answer link queries, to be cloned: shortest paths, since the data say what is right and not how to get there.
 * @source Xiong et al. 2017 (DeepPath), section 3.3: breadth-first paths as a warm start for the policy gradient
 */
import { placeOfEdge } from '../../envs/link-query-edges.js';
import type { LinkQueryWorld } from '../../envs/link-query-world.js';
import { ShortestPaths } from '../../src/kg/shortest-paths.js';
import { Rng } from '../../src/run/seeds.js';
import type { DemonstrationSettings } from './demonstration-settings.js';

/** Walks in the actions of an environment. */
export interface Demonstrations {
  /** int32 [walks]: index of the query in the environment. */
  queries: Int32Array;
  /** int32 [walks, horizon]: what is done, as places in the lists of actions; walks that arrive early stay. */
  actions: Int32Array;
  /** Queries that were looked at. */
  asked: number;
  /** Those of them whose answer no walk of the horizon reaches: nothing is shown of them. */
  unreachable: number;
}

/**
 * Walks in which everything is legal: over the lists of the environment, not over the edge that the query asks for, and
 * ending at the answer.
 * @param stream what the draws are named by
 */
export function demonstrationsOf(
  world: LinkQueryWorld,
  { paths: most, queries: limit }: DemonstrationSettings,
  seed: number,
  stream: string,
): Demonstrations {
  const { queries, horizon, hiddenForward } = world;
  const finder = new ShortestPaths(world);
  const rng = Rng.named(seed, `${stream}/paths`);
  const asked = chosenQueries(queries.heads.length, limit, Rng.named(seed, `${stream}/queries`));
  const [shown, actions]: [number[], number[]] = [[], []];
  let unreachable = 0;
  for (const query of asked) {
    const [head, relation, tail] = [queries.heads[query]!, queries.relations[query]!, queries.tails[query]!];
    const hidden = hiddenForward[query]! >= 0 ? relation : undefined;
    const paths = finder.between(head, tail, { horizon, hidden, most, rng });
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
