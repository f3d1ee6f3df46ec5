/** Gathers the entities at which the walks of one query end. */
import { boundedHeap } from '../bounded-heap.js';
import { stepsOf, type BeamLevel, type LinkLists } from './beam-levels.js';

/** The distinct entities that the walks of a query end at, in the order in which they were met. */
export interface ReachedEntities {
  /** int32 [reached]. */
  entities: Int32Array;
  /** float64 [reached]: log-probability of the best walk to each. */
  best: Float64Array;
  /** float64 [reached]: log of the summed probability of all walks to each that were met. */
  sum: Float64Array;
  /**
   * Places of the first entities by one of these columns, best first, ties to the lower id. Ranks need no order: it is made
   * only where answers are shown.
   */
  order(by: Float64Array, most?: number): Int32Array;
  /** int32 [2 · horizon]: relation and entity of each step of the best walk to `entities[i]`; staying has the relation `numRelations`. */
  path(i: number): Int32Array;
}

/** Columns over all entities that serve one query after another; only what a query touches is cleared. */
export class LinkEnds {
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
  #graph: LinkLists | undefined;

  constructor(numEntities: number) {
    this.#best = new Float64Array(numEntities);
    this.#mass = new Float64Array(numEntities);
    this.#walk = new Int32Array(numEntities);
    this.#action = new Int32Array(numEntities);
    this.#touched = new Int32Array(numEntities);
  }

  /**
   * Adds every last step of a walk. Among walks of equal probability the one met first stays the best.
   * @param before log-probability of the walk so far
   * @param logProbs of its `count` actions, from `begin` on
   */
  add(
    graph: LinkLists,
    current: number,
    walk: number,
    before: number,
    logProbs: Float32Array,
    begin: number,
    count: number,
  ): void {
    this.#graph = graph;
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
  finish(levels: readonly BeamLevel[], numRelations: number): ReachedEntities {
    const graph = this.#graph!;
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
      ...{ entities, best, sum },
      order(by, most = reached) {
        const heap = boundedHeap(Math.min(most, reached));
        for (let i = 0; i < reached; i++) heap.offer(by[i]!, entities[i]!, i, 0, 0);
        return Int32Array.from(heap.drain(), ({ a }) => a);
      },
      path(i) {
        const current = levels[hop]!.entities[walks[i]!]!;
        const edge = graph.offsets[current]! + actions[i]!;
        const stays = edge === graph.offsets[current + 1]!;
        const relation = stays ? numRelations : graph.relations[edge]!;
        return Int32Array.of(...stepsOf(levels, hop, walks[i]!), relation, entities[i]!);
      },
    };
  }
}
