/** Chains of relations, followed from a head. */
import { type RelationRows, rowOf } from '../../src/kg/relation-rows.js';

/** Relations of the longest chain. */
export const mostRelations = 5;

/** If a level holds more than 1 in this many heads of a relation, its rows are scanned sequentially. */
const scanShare = 8;

/** The ends of all walks along the first relations of a chain. */
interface Level {
  relation: number;
  /** int32: entities, each once. */
  entities: Int32Array;
  /** int32 by earlier level: the one entity in which all walks to each entity were then, or -1 where there are several. */
  trail: readonly Int32Array[];
  count: number;
  /** int32 [entities of the graph]: 1 + index in `entities`, as far as `entities` says so. */
  indices: Int32Array;
}

/**
 * Follows chains in one graph. Chains with a common beginning cost least one after another: the beginning is walked once.
 * @source entities are distinct in every walk, as the variables of AnyBURL's rules (Meilicke et al. 2019)
 */
export class ChainFollower {
  readonly #rows: RelationRows;
  readonly #levels: Level[];
  #head = -1;
  /** Levels that hold for the head. */
  #held = 0;

  /** @param longest relations of the longest chain; memory: 8 to 24 bytes an entity and relation */
  constructor(rows: RelationRows, numEntities: number, longest = mostRelations) {
    this.#rows = rows;
    const column = () => new Int32Array(numEntities);
    this.#levels = Array.from({ length: longest }, (_, step) => ({
      relation: -1,
      entities: column(),
      trail: Array.from({ length: step }, column),
      count: 0,
      indices: column(),
    }));
  }

  /**
   * The distinct ends of the walks from `head` along the relations that enter no entity twice; the head itself for a chain of none.
   * An edge from the head to one of these ends is part of no walk there but the walk along it alone. Beyond three relations an
   * entity may be entered again where several walks pass the same entities.
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
    const { begins, heads } = this.#rows;
    if (step === 0) {
      const row = rowOf(this.#rows, relation, this.#head);
      if (row >= 0) this.#enter(step, row, -1);
      return;
    }
    const { entities, count, indices } = this.#levels[step - 1]!;
    const [begin, end] = [begins[relation]!, begins[relation + 1]!];
    if (count * scanShare < end - begin) {
      for (let i = 0; i < count; i++) {
        const row = rowOf(this.#rows, relation, entities[i]!);
        if (row >= 0) this.#enter(step, row, i);
      }
    } else {
      for (let row = begin; row < end; row++) {
        const index = indices[heads[row]!]! - 1;
        if (index >= 0 && index < count && entities[index] === heads[row]) this.#enter(step, row, index);
      }
    }
  }

  /** Takes the edges of an entity. @param index of the entity in the level before */
  #enter(step: number, row: number, index: number): void {
    const { edges, heads, tails } = this.#rows;
    const level = this.#levels[step]!;
    const { entities, indices, trail } = level;
    const head = this.#head;
    const from = heads[row]!;
    const passed = step > 1 ? this.#levels[step - 1]!.trail : none;
    let { count } = level;
    for (let edge = edges[row]!, end = edges[row + 1]!; edge < end; edge++) {
      const to = tails[edge]!;
      if (to === head || to === from || wasIn(passed, index, to)) continue;
      const known = indices[to]! - 1;
      if (known >= 0 && known < count && entities[known] === to) {
        for (let k = 0; k < step; k++) {
          if (trail[k]![known] !== (k < step - 1 ? passed[k]![index]! : from)) trail[k]![known] = -1;
        }
      } else {
        for (let k = 0; k < step; k++) trail[k]![count] = k < step - 1 ? passed[k]![index]! : from;
        entities[count] = to;
        indices[to] = ++count;
      }
    }
    level.count = count;
  }
}

const none: readonly Int32Array[] = [];

function wasIn(trail: readonly Int32Array[], index: number, entity: number): boolean {
  for (let k = 0; k < trail.length; k++) if (trail[k]![index] === entity) return true;
  return false;
}
