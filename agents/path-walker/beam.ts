/** Beam search over link queries: which entities the best walks reach, how probable each is, and by which walk. */
import type { EdgeLists } from '../../envs/link-query/world.js';
import { actionLogProbs, type StateScorer } from '../../trainers/actor.js';
import { boundedHeap, type BoundedHeap } from '../bounded-heap.js';
import type { LinkRequest } from './request.js';

/** Policy of a beam. */
export type BeamActor = StateScorer<LinkRequest>;

/** (head, relation, ?), by ids of the graph. */
export type HeadAndRelation = { head: number; relation: number };

/** Size of the beam. */
export interface BeamOptions {
  /** Walks of a query that continue after each step but the last; at least 1. */
  beamWidth: number;
  /** Steps of every walk, stays included; at least 1. */
  horizon: number;
}

/** Walked environment; every action is legal. */
export interface LinkLists extends EdgeLists {
  /** Relations with inverses: the id that staying has in paths. */
  readonly numRelations: number;
}

/** The distinct entities that the walks of a query end at, in the order in which they were met. */
export interface ReachedEntities {
  /** int32 [reached]. */
  entities: Int32Array;
  /** float64 [reached]: log-probability of the best walk to each. */
  best: Float64Array;
  /** float64 [reached]: log of the summed probability of all walks to each that were met. */
  sum: Float64Array;
  /** Places of the first entities by a column, best first, ties to the lower id; made only where answers are shown. */
  order(by: Float64Array, most?: number): Int32Array;
  /** int32 [2 · horizon]: relation and entity of each step of the best walk to `entities[i]`; staying has the relation `numRelations`. */
  path(i: number): Int32Array;
}

/** Actions that one call of the actor scores at most, unless a single state has more: bounds memory, not results. */
const mostActions = 1 << 20;
/** Cost of a state in addition to its actions, in actions: its path is encoded, too. */
const stateCost = 128;

/**
 * Walks all queries side by side, so that the network sees full batches. After each step but the last the `beamWidth` most
 * probable walks continue, ties to the walk and the action met first. The last step is not pruned: all its actions are
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
  const ends = new LinkEnds(graph);
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
      if (last) ends.add(current, walk, from, logProbs, begin, count);
      else {
        for (let action = 0; action < count; action++) {
          const logProb = from + logProbs[begin + action]!;
          heap.offer(logProb, offered++, walk, action, logProb);
        }
      }
      if (walk + 1 < entities.length) return;
      if (last) results.push(ends.finish(levels[query]!));
      else levels[query]!.push(nextLevel(graph, levels[query]![hop]!, heap));
    });
  }
  return results;
}

type OpenWalk = { query: number; walk: number; request: LinkRequest };

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

/** Columns over all entities that serve one query after another; only what a query touches is cleared. */
class LinkEnds {
  /** Best log-probability so far; read where `#mass` is not 0. */
  readonly #best: Float64Array;
  /** Summed probability of the walks to an entity, as a multiple of the best one's; 0 marks an entity not reached. */
  readonly #mass: Float64Array;
  /** Walk before the last step of the best one. */
  readonly #walk: Int32Array;
  /** Place of its last step in the action list. */
  readonly #action: Int32Array;
  readonly #touched: Int32Array;
  #reached = 0;

  constructor(readonly graph: LinkLists) {
    const numEntities = graph.offsets.length - 1;
    this.#best = new Float64Array(numEntities);
    this.#mass = new Float64Array(numEntities);
    this.#walk = new Int32Array(numEntities);
    this.#action = new Int32Array(numEntities);
    this.#touched = new Int32Array(numEntities);
  }

  /** Adds every last step of a walk, `count` actions from `begin` on; of equal walks the one met first stays the best. */
  add(current: number, walk: number, before: number, logProbs: Float32Array, begin: number, count: number): void {
    const { graph } = this;
    const first = graph.offsets[current]!;
    for (let action = 0; action < count; action++) {
      const entity = action === count - 1 ? current : graph.tails[first + action]!;
      const logProb = before + logProbs[begin + action]!;
      const mass = this.#mass[entity]!;
      if (mass !== 0 && logProb <= this.#best[entity]!) {
        this.#mass[entity] = mass + Math.exp(logProb - this.#best[entity]!);
        continue;
      }
      if (mass === 0) this.#touched[this.#reached++] = entity;
      this.#mass[entity] = mass === 0 ? 1 : 1 + mass * Math.exp(this.#best[entity]! - logProb);
      this.#best[entity] = logProb;
      this.#walk[entity] = walk;
      this.#action[entity] = action;
    }
  }

  /** Gives what was added and forgets it. */
  finish(levels: readonly BeamLevel[]): ReachedEntities {
    const { graph } = this;
    const reached = this.#reached;
    const entities = this.#touched.slice(0, reached);
    const [best, sum] = [new Float64Array(reached), new Float64Array(reached)];
    const [walks, actions] = [new Int32Array(reached), new Int32Array(reached)];
    for (let i = 0; i < reached; i++) {
      const entity = entities[i]!;
      best[i] = this.#best[entity]!;
      sum[i] = best[i]! + Math.log(this.#mass[entity]!);
      walks[i] = this.#walk[entity]!;
      actions[i] = this.#action[entity]!;
      this.#mass[entity] = 0;
    }
    this.#reached = 0;
    const hop = levels.length - 1;
    return {
      entities,
      best,
      sum,
      order(by, most = reached) {
        const heap = boundedHeap(Math.min(most, reached));
        for (let i = 0; i < reached; i++) heap.offer(by[i]!, entities[i]!, i, 0, 0);
        return Int32Array.from(heap.drain(), ({ a }) => a);
      },
      path(i) {
        const walk = walks[i]!;
        const last = stepOf(graph, levels[hop]!.entities[walk]!, actions[i]!);
        return Int32Array.of(...stepsOf(levels, hop, walk), ...last);
      },
    };
  }
}

interface BeamLevel {
  /** int32: place among the walks one step shorter; -1 at the start. */
  parents: Int32Array;
  /** int32: relation of the last step; -1 at the start. */
  relations: Int32Array;
  /** int32: entity where the walk stands. */
  entities: Int32Array;
  /** float64: log-probability of the walk. */
  logProbs: Float64Array;
}

function firstLevel(head: number): BeamLevel {
  const start = Int32Array.of(-1);
  return { parents: start, relations: start, entities: Int32Array.of(head), logProbs: Float64Array.of(0) };
}

/** Empties the heap of walks that are a step longer: `a` is the walk before, `b` the place of its last action. */
function nextLevel(graph: LinkLists, before: BeamLevel, heap: BoundedHeap): BeamLevel {
  const best = heap.drain();
  const level: BeamLevel = {
    parents: Int32Array.from(best, ({ a }) => a),
    relations: new Int32Array(best.length),
    entities: new Int32Array(best.length),
    logProbs: Float64Array.from(best, ({ value }) => value),
  };
  best.forEach(({ a: parent, b: action }, i) => {
    [level.relations[i], level.entities[i]] = stepOf(graph, before.entities[parent]!, action);
  });
  return level;
}

/** Relation and entity of an action; behind the edges comes staying. */
function stepOf(graph: LinkLists, current: number, action: number): [number, number] {
  const edge = graph.offsets[current]! + action;
  if (edge === graph.offsets[current + 1]!) return [graph.numRelations, current];
  return [graph.relations[edge]!, graph.tails[edge]!];
}

/** int32 [2 · hop]: relation and entity of each step of a walk. */
function stepsOf(levels: readonly BeamLevel[], hop: number, walk: number): Int32Array {
  const path = new Int32Array(2 * hop);
  for (let depth = hop, at = walk; depth > 0; depth--) {
    const { parents, relations, entities } = levels[depth]!;
    path[2 * depth - 2] = relations[at]!;
    path[2 * depth - 1] = entities[at]!;
    at = parents[at]!;
  }
  return path;
}
