/**
 * Exact end distribution of walks along relation chains: each hop is uniform over the edges of its relation; common prefixes are computed
 * once.
 */
import type { Rng } from '../../../src/run/seeds.js';
import { type RelationRows, rowHolds, rowOf } from '../../../src/kg/relation-rows.js';

/** Maximum relations per chain. */
export const mostHops = 4;

/** Padding after the last relation of a chain. */
export const noRelation = -1;

/** Edges hidden from a walk: those between the two ends of a training query. */
export interface HiddenEdges {
  /** Answer; -1 if nothing is hidden. */
  tail: number;
  relation: number;
  inverse: number;
  /** True: hide every edge between the two; false: only the query's own and its inverse. */
  pairs: boolean;
}

/** Nothing hidden, for queries with an unknown answer. */
export const nothingHidden: HiddenEdges = { tail: -1, relation: -1, inverse: -1, pairs: false };

interface Level {
  /** int32 [numEntities], the first `size` are valid. */
  entities: Int32Array;
  size: number;
  /** float64 [numEntities]: probability, 0 if not reached. */
  chance: Float64Array;
}

/** Marks of entities for `ends`. */
export const endMarks = {
  /** Other known answers and the head: excluded mass. */
  out: 0,
  /** Any other entity. */
  free: 1,
  /** The answer, which is free as well. */
  answer: 2 ** 26 + 1,
} as const;

/** If a level holds more than 1 in this many heads of a relation, its rows are scanned sequentially. */
const scanShare = 8;

/** Walks of one thread over one graph. Scratch: about 70 bytes an entity. */
export class ChainWalk {
  readonly #graph: RelationRows;
  readonly #levels: readonly Level[];
  /** Relations of the current levels, and the number of valid levels. */
  readonly #path = new Int32Array(mostHops);
  #depth = 0;
  #head = -1;
  #hidden = nothingHidden;
  /** Rows of the next hop, with the weight of each of their edges. */
  readonly #rows: Int32Array;
  readonly #worth: Float64Array;
  /** The answer if its direct edge from the head is hidden, else -1. */
  #skipped = -1;

  constructor(graph: RelationRows, numEntities: number) {
    this.#graph = graph;
    this.#rows = new Int32Array(numEntities);
    this.#worth = new Float64Array(numEntities);
    this.#levels = Array.from({ length: mostHops + 1 }, () => ({
      entities: new Int32Array(numEntities),
      size: 0,
      chance: new Float64Array(numEntities),
    }));
  }

  /** Sets the head, which walks do not revisit. */
  begin(head: number, hidden: HiddenEdges): void {
    this.#forget(0);
    this.#clear(0);
    const first = this.#levels[0]!;
    first.entities[0] = head;
    first.size = 1;
    first.chance[head] = 1;
    this.#head = head;
    this.#hidden = hidden;
  }

  /** Walks chains, int32 [n, mostHops], sorted and padded. @param leaf called before the last hop of each that gets there */
  each(chains: Int32Array, leaf: (chain: number, hops: number, relation: number) => void): void {
    const path = this.#path;
    for (let chain = 0, at = 0; at < chains.length; chain++, at += mostHops) {
      let hops = mostHops;
      while (chains[at + hops - 1] === noRelation) hops--;
      let shared = 0;
      while (shared < hops - 1 && shared < this.#depth && path[shared] === chains[at + shared]) shared++;
      if (shared < hops - 1) {
        this.#forget(shared);
        for (let hop = shared; hop < hops - 1; hop++) {
          const relation = chains[at + hop]!;
          path[hop] = relation;
          this.#walk(hop, relation);
          this.#depth = hop + 1;
        }
      }
      if (this.#levels[hops - 1]!.size > 0) leaf(chain, hops, chains[at + hops - 1]!);
    }
  }

  /**
   * Result of a chain's last hop, for use in `each`'s `leaf`.
   * @param marks int32 [numEntities] of `endMarks`
   * @param out output: probability of the answer, total probability of free entities
   */
  ends(hops: number, relation: number, marks: Int32Array, out: Float64Array): void {
    const { edges, tails } = this.#graph;
    const count = this.#next(hops - 1, relation);
    let answer = 0;
    let free = 0;
    for (let i = 0; i < count; i++) {
      const row = this.#rows[i]!;
      const worth = this.#worth[i]!;
      let sum = 0;
      for (let edge = edges[row]!, end = edges[row + 1]!; edge < end; edge++) sum += marks[tails[edge]!]!;
      if (this.#skipped >= 0) sum -= marks[this.#skipped]!;
      if (sum >= endMarks.answer) {
        answer += worth;
        sum -= endMarks.answer - 1;
      }
      free += worth * sum;
    }
    out[0] = answer;
    out[1] = free;
  }

  /** Adds `weight` times the end probability to each entity; the value at the head is meaningless afterwards. */
  spread(hops: number, relation: number, weight: number, out: Float64Array): void {
    const { edges, tails } = this.#graph;
    const count = this.#next(hops - 1, relation);
    for (let i = 0; i < count; i++) {
      const row = this.#rows[i]!;
      const worth = weight * this.#worth[i]!;
      for (let edge = edges[row]!, end = edges[row + 1]!; edge < end; edge++) out[tails[edge]!]! += worth;
    }
  }

  reached(hops: number, relation: number, take: (entity: number, chance: number) => void): void {
    this.#forget(hops - 1);
    this.#walk(hops - 1, relation);
    const { entities, size, chance } = this.#levels[hops]!;
    for (let i = 0; i < size; i++) take(entities[i]!, chance[entities[i]!]!);
    this.#clear(hops);
  }

  /** A walk along the current chain to `end`, by probability (not 0): int32 [2 · hops], relation and entity of each step. */
  drawn(hops: number, relation: number, end: number, inverseOf: Int32Array, rng: Rng): Int32Array {
    const { edges, tails } = this.#graph;
    const steps = new Int32Array(2 * hops);
    let to = end;
    for (let depth = hops - 1; depth >= 0; depth--) {
      const via = depth === hops - 1 ? relation : this.#path[depth]!;
      steps[2 * depth] = via;
      steps[2 * depth + 1] = to;
      const { chance } = this.#levels[depth]!;
      const row = rowOf(this.#graph, inverseOf[via]!, to);
      const [begin, behind] = [edges[row]!, edges[row + 1]!];
      const worthOf = (from: number) => {
        if (chance[from] === 0) return 0;
        const own = rowOf(this.#graph, via, from);
        const hidden = this.#hiddenFrom(depth, via, from);
        if (hidden === to) return 0;
        return (
          chance[from]! / (edges[own + 1]! - edges[own]! - Number(hidden >= 0 && rowHolds(this.#graph, own, hidden)))
        );
      };
      let sum = 0;
      for (let edge = begin; edge < behind; edge++) sum += worthOf(tails[edge]!);
      let left = rng.uniform() * sum;
      let from = -1;
      for (let edge = begin; edge < behind && left >= 0; edge++) {
        const worth = worthOf(tails[edge]!);
        if (worth === 0) continue;
        from = tails[edge]!;
        left -= worth;
      }
      to = from;
    }
    return steps;
  }

  #forget(depth: number): void {
    for (let level = depth + 1; level <= this.#depth; level++) this.#clear(level);
    this.#depth = Math.min(this.#depth, depth);
  }

  #clear(depth: number): void {
    const level = this.#levels[depth]!;
    for (let i = 0; i < level.size; i++) level.chance[level.entities[i]!] = 0;
    level.size = 0;
  }

  #walk(depth: number, relation: number): void {
    const { edges, tails } = this.#graph;
    const count = this.#next(depth, relation);
    const head = this.#head;
    const skipped = this.#skipped;
    const level = this.#levels[depth + 1]!;
    const { entities, chance } = level;
    let size = 0;
    for (let i = 0; i < count; i++) {
      const row = this.#rows[i]!;
      const worth = this.#worth[i]!;
      for (let edge = edges[row]!, end = edges[row + 1]!; edge < end; edge++) {
        const tail = tails[edge]!;
        const before = chance[tail]!;
        if (before === 0) {
          if (tail === head || tail === skipped) continue;
          entities[size++] = tail;
        }
        chance[tail] = before + worth;
      }
    }
    level.size = size;
  }

  /** Finds the rows of a relation for walks at this depth. @returns their number */
  #next(depth: number, relation: number): number {
    const { begins, heads, edges } = this.#graph;
    const { entities, size, chance } = this.#levels[depth]!;
    const [begin, end] = [begins[relation]!, begins[relation + 1]!];
    const [rows, worth] = [this.#rows, this.#worth];
    let count = 0;
    if (size * scanShare < end - begin) {
      for (let i = 0; i < size; i++) {
        const row = rowOf(this.#graph, relation, entities[i]!);
        if (row >= 0) rows[count++] = row;
      }
    } else {
      for (let row = begin; row < end; row++) if (chance[heads[row]!] !== 0) rows[count++] = row;
    }
    for (let i = 0; i < count; i++) {
      const row = rows[i]!;
      worth[i] = chance[heads[row]!]! / (edges[row + 1]! - edges[row]!);
    }
    return this.#hide(depth, relation, count);
  }

  /** Tail of the hidden edge among those of a relation from an entity at this depth, or -1. */
  #hiddenFrom(depth: number, relation: number, from: number): number {
    const { tail, pairs, relation: own, inverse } = this.#hidden;
    if (tail < 0 || !(pairs || relation === (depth === 0 ? own : inverse))) return -1;
    if (depth === 0) return from === this.#head ? tail : -1;
    return from === tail ? this.#head : -1;
  }

  /** Removes hidden edges: only rows of the query's two ends have any. @returns number of remaining rows */
  #hide(depth: number, relation: number, count: number): number {
    this.#skipped = -1;
    const from = depth === 0 ? this.#head : this.#hidden.tail;
    const to = this.#hiddenFrom(depth, relation, from);
    if (to < 0) return count;
    const { chance } = this.#levels[depth]!;
    if (chance[from] === 0) return count;
    const row = rowOf(this.#graph, relation, from);
    if (row < 0 || !rowHolds(this.#graph, row, to)) return count;
    const { edges } = this.#graph;
    const left = edges[row + 1]! - edges[row]! - 1;
    const index = this.#rows.subarray(0, count).indexOf(row);
    if (depth === 0) this.#skipped = to;
    if (left > 0) {
      this.#worth[index] = chance[from]! / left;
      return count;
    }
    // Keeps the order of sums that of the rows.
    this.#rows.copyWithin(index, index + 1, count);
    this.#worth.copyWithin(index, index + 1, count);
    return count - 1;
  }
}
