/** Where a chain of relations leads. */
import type { AdjacencyRows } from '../../src/kg/adjacency.js';

/**
 * Longest chain that is followed. Up to here, walks that enter no entity twice can be told by what each entity was entered
 * from; longer ones would have to be walked one by one.
 */
export const mostRelations = 3;

/** The ends of all walks along the first relations of a chain. */
interface Level {
  relation: number;
  /** int32: entities, each once. */
  entities: Int32Array;
  /** int32: the one entity before each, or -1 where there are several. */
  before: Int32Array;
  count: number;
  /** int32 [entities of the graph]: 1 + place in `entities`, as far as `entities` says so. */
  places: Int32Array;
}

/**
 * Follows chains in one graph. Chains with a common beginning cost least one after another: the beginning is walked once.
 * @source entities are distinct in every walk, as the variables of AnyBURL's rules (Meilicke et al. 2019)
 */
export class ChainFollower {
  readonly #rows: AdjacencyRows;
  readonly #levels: Level[];
  #head = -1;
  /** Levels that hold for the head. */
  #held = 0;

  constructor(rows: AdjacencyRows) {
    this.#rows = rows;
    const numEntities = rows.offsets.length - 1;
    const column = () => new Int32Array(numEntities);
    this.#levels = Array.from({ length: mostRelations }, () => ({
      ...{ relation: -1, entities: column(), before: column(), count: 0, places: column() },
    }));
  }

  /**
   * The distinct ends of the walks from `head` along the relations that enter no entity twice; the head itself for a chain of
   * none. An edge from the head to one of these ends is part of no walk there but the walk along it alone.
   * @param chain at most `mostRelations`
   * @returns int32, in no particular order; valid until the next call
   */
  follow(head: number, chain: ArrayLike<number>): Int32Array {
    if (chain.length === 0) return Int32Array.of(head);
    if (head !== this.#head) this.#held = 0;
    this.#head = head;
    for (let step = 0; step < chain.length; step++) {
      if (step < this.#held && this.#levels[step]!.relation === chain[step]) continue;
      this.#walk(step, chain[step]!);
      this.#held = step + 1;
    }
    const { entities, count } = this.#levels[chain.length - 1]!;
    return entities.subarray(0, count);
  }

  #walk(step: number, relation: number): void {
    const level = this.#levels[step]!;
    level.relation = relation;
    level.count = 0;
    if (step === 0) return this.#enter(level, relation, this.#head, -1);
    const { entities, before, count } = this.#levels[step - 1]!;
    for (let i = 0; i < count; i++) this.#enter(level, relation, entities[i]!, step === 1 ? -1 : before[i]!);
  }

  /** Takes the edges of an entity. @param before what the entity was entered from and may not be entered again */
  #enter(level: Level, relation: number, from: number, before: number): void {
    const { relations, tails, offsets } = this.#rows;
    const end = offsets[from + 1]!;
    const { entities, places } = level;
    for (let edge = this.#firstOf(from, relation); edge < end && relations[edge] === relation; edge++) {
      const to = tails[edge]!;
      if (to === this.#head || to === from || to === before) continue;
      const place = places[to]!;
      if (place > 0 && place <= level.count && entities[place - 1] === to) {
        level.before[place - 1] = -1;
        continue;
      }
      entities[level.count] = to;
      level.before[level.count] = from;
      places[to] = ++level.count;
    }
  }

  /** The first edge of an entity whose relation is not below another. */
  #firstOf(entity: number, relation: number): number {
    const { offsets, relations } = this.#rows;
    let low = offsets[entity]!;
    for (let high = offsets[entity + 1]!; low < high;) {
      const middle = (low + high) >>> 1;
      if (relations[middle]! < relation) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
