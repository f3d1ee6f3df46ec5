/** Beam search over link queries: which entities the best walks reach, how probable each is, and by which walk. */
import { actionLogProbs, type StateScorer } from '../actor.js';
import { boundedHeap } from '../bounded-heap.js';
import { firstLevel, nextLevel, stepsOf, type BeamLevel, type LinkLists } from './beam-levels.js';
import { LinkEnds, type ReachedEntities } from './link-ends.js';
import type { LinkRequest } from './request.js';

export type { LinkLists } from './beam-levels.js';
export type { ReachedEntities } from './link-ends.js';

/** What a beam needs of a policy. */
export type BeamActor = StateScorer<LinkRequest>;

/** (head, relation, ?), by ids of the graph. */
export interface HeadAndRelation {
  head: number;
  relation: number;
}

/** How much is walked. */
export interface BeamOptions {
  /** Walks of a query that go on after each step but the last; at least 1. */
  beamWidth: number;
  /** Steps of every walk, stays included; at least 1. */
  horizon: number;
}

/** Actions that one call of the actor scores at most, unless a single state has more: bounds memory, not results. */
const mostActions = 1 << 20;
/** What a state costs beside its actions, in actions: its path is encoded, too. */
const stateCost = 128;

/**
 * Walks all queries side by side, so that the network sees full batches. After each step but the last the `beamWidth` most
 * probable walks go on, ties to the walk and the action met first. The last step is not pruned: all its actions are
 * scored anyway, and cutting them would only turn answers that were reached into unreached ones.
 */
export async function linkBeams(
  actor: BeamActor,
  graph: LinkLists,
  queries: readonly HeadAndRelation[],
  { beamWidth, horizon }: BeamOptions,
): Promise<ReachedEntities[]> {
  const levels = queries.map(({ head }) => [firstLevel(head)]);
  const heap = boundedHeap(beamWidth);
  const ends = new LinkEnds(graph.offsets.length - 1);
  const results: ReachedEntities[] = [];
  for (let hop = 0; hop < horizon; hop++) {
    const last = hop === horizon - 1;
    // One query's walks are finished before the next one's begin: they share the heap and the columns of ends.
    let offered = 0;
    await scored(actor, requestsOf(graph, queries, levels, hop), ({ query, walk }, logProbs, begin, count) => {
      const { entities, logProbs: before } = levels[query]![hop]!;
      if (walk === 0) offered = 0;
      const current = entities[walk]!;
      const from = before[walk]!;
      if (last) ends.add(graph, current, walk, from, logProbs, begin, count);
      else {
        for (let action = 0; action < count; action++) {
          const logProb = from + logProbs[begin + action]!;
          heap.offer(logProb, offered++, walk, action, logProb);
        }
      }
      if (walk + 1 < entities.length) return;
      if (last) results.push(ends.finish(levels[query]!, graph.numRelations));
      else levels[query]!.push(nextLevel(graph, levels[query]![hop]!, heap));
    });
  }
  return results;
}

/** A walk of a query and the state that it stands in. */
interface OpenWalk {
  query: number;
  walk: number;
  request: LinkRequest;
}

/** Walks of all queries, query by query. */
function* requestsOf(
  graph: LinkLists,
  queries: readonly HeadAndRelation[],
  levels: readonly BeamLevel[][],
  hop: number,
): Generator<OpenWalk> {
  for (let query = 0; query < queries.length; query++) {
    const { head, relation } = queries[query]!;
    const task = { id: `${head} ${relation}` };
    const { entities } = levels[query]![hop]!;
    for (let walk = 0; walk < entities.length; walk++) {
      const current = entities[walk]!;
      const length = graph.offsets[current + 1]! - graph.offsets[current]! + 1;
      const path = stepsOf(levels[query]!, hop, walk);
      yield { query, walk, request: { task, head, relation, current, hop, path, length } };
    }
  }
}

/** Scores states in their order, a bounded number of actions at a time. */
async function scored(
  actor: BeamActor,
  walks: Iterable<OpenWalk>,
  take: (walk: OpenWalk, logProbs: Float32Array, begin: number, count: number) => void,
): Promise<void> {
  let batch: OpenWalk[] = [];
  let actions = 0;
  const flush = async () => {
    if (batch.length === 0) return;
    const { logProbs, offsets } = await actionLogProbs(
      actor,
      batch.map(({ request }) => request),
    );
    batch.forEach((walk, i) => take(walk, logProbs, offsets[i]!, offsets[i + 1]! - offsets[i]!));
    batch = [];
    actions = 0;
  };
  for (const walk of walks) {
    const cost = walk.request.length + stateCost;
    if (actions + cost > mostActions) await flush();
    batch.push(walk);
    actions += cost;
  }
  await flush();
}
