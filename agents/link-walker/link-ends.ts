/** Gathers the entities at which the walks of one query end. */
import { stepsOf, type BeamLevel, type LinkLists } from './beam-levels.js';

/** The distinct entities that the walks of a query end at, best first by the best walk to each, ties to the lower id. */
export interface ReachedEntities {
  /** int32 [reached]. */
  entities: Int32Array;
  /** float64 [reached]: log-probability of the best walk to each. */
  best: Float64Array;
  /** float64 [reached]: log of the summed probability of all walks to each that were met. */
  sum: Float64Array;
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

  /** Ranks what was added and forgets it. */
  finish(levels: readonly BeamLevel[], numRelations: number): ReachedEntities {
    const graph = this.#graph!;
    const best = this.#best;
    const entities = this.#touched.slice(0, this.#reached).sort((a, b) => best[b]! - best[a]! || a - b);
    const result = {
      entities,
      best: Float64Array.from(entities, (entity) => best[entity]!),
      sum: Float64Array.from(entities, (entity) => best[entity]! + Math.log(this.#mass[entity]!)),
    };
    const walks = Int32Array.from(entities, (entity) => this.#walk[entity]!);
    const actions = Int32Array.from(entities, (entity) => this.#action[entity]!);
    for (const entity of entities) this.#mass[entity] = 0;
    this.#reached = 0;
    const hop = levels.length - 1;
    return {
      ...result,
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
