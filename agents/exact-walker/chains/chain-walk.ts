/** Where walks along chains of relations end: exactly, every hop uniform over the edges of its relation, common beginnings walked once. */
import type { Rng } from '../../../src/run/seeds.js';
import type { RelationRows } from '../../../src/kg/relation-rows.js';
import { rowHolds, rowOf } from '../../../src/kg/relation-rows.js';

/** Relations of the longest chain. */
export const mostHops = 4;

/** Stands in a chain's row behind its last relation. */
export const noRelation = -1;

/** Edges that a walk does not see: those between the two ends of a training query. */
export interface HiddenEdges {
  /** The answer; -1 where nothing is hidden. */
  tail: number;
  /** Of the query. */
  relation: number;
  /** Of `relation`, walked the other way. */
  inverse: number;
  /** Whether every edge between the two is hidden, or the query's own and its inverse alone. */
  pairs: boolean;
}

/** Nothing is hidden: a query whose answer is not known. */
export const nothingHidden: HiddenEdges = { tail: -1, relation: -1, inverse: -1, pairs: false };

/** Entities with the probability that the walk is there. */
interface Level {
  /** int32 [numEntities], of which the first `size` count. */
  entities: Int32Array;
  size: number;
  /** float64 [numEntities]: 0 where it is not. */
  chance: Float64Array;
}

/** What a mark of `ends` says of an entity as the end of a walk. */
export const endMarks = {
  /** Another known answer, or the head: its mass is no mass. */
  out: 0,
  /** Any other entity. */
  free: 1,
  /** The answer, which is free as well. */
  answer: 2 ** 26 + 1,
} as const;

/** Rows of a relation are read one after the other where a walk is at more than one in so many of its heads. */
const scanShare = 8;

/** Walks of one thread over one graph. Scratch: about 70 bytes an entity. */
export class ChainWalk {
  readonly #graph: RelationRows;
  readonly #levels: readonly Level[];
  /** Relations that the levels were reached by, and how many of them stand. */
  readonly #path = new Int32Array(mostHops);
  #depth = 0;
  #head = -1;
  #hidden = nothingHidden;
  /** Rows that the next hop goes by, with what each of their edges is worth. */
  readonly #rows: Int32Array;
  readonly #worth: Float64Array;
  /** The answer, where the edge to it from the head is among them and hidden, or -1. */
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

  /** Begins at a head; walks do not come back to it. */
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

  /**
   * Walks all of some chains.
   * @param chains int32 [n, mostHops], sorted, `noRelation` behind the last relation of each
   * @param leaf told of each chain that leads to its last hop: how many hops it has, and the relation of the last
   */
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
   * What the last hop of a chain comes to, told to `each`'s `leaf`.
   * @param marks int32 [numEntities] of `endMarks`
   * @param out filled: chance of the answer, chance of all that is free
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

  /** Adds `weight` times the chance that the chain ends there to each entity; the head's own number stands for nothing then. */
  spread(hops: number, relation: number, weight: number, out: Float64Array): void {
    const { edges, tails } = this.#graph;
    const count = this.#next(hops - 1, relation);
    for (let i = 0; i < count; i++) {
      const row = this.#rows[i]!;
      const worth = weight * this.#worth[i]!;
      for (let edge = edges[row]!, end = edges[row + 1]!; edge < end; edge++) out[tails[edge]!]! += worth;
    }
  }

  /** Every entity that the chain ends on, with its chance. */
  reached(hops: number, relation: number, take: (entity: number, chance: number) => void): void {
    this.#forget(hops - 1);
    this.#walk(hops - 1, relation);
    const { entities, size, chance } = this.#levels[hops]!;
    for (let i = 0; i < size; i++) take(entities[i]!, chance[entities[i]!]!);
    this.#clear(hops);
  }

  /**
   * A walk along the chain that `each`'s leaf is told of, drawn from all that end on `end` by their chance, which must not be 0.
   * @param inverseOf of the graph that the rows are of
   * @returns int32 [2 · hops]: relation and entity of each step
   */
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

  /** Fills the level behind `depth`, which is empty. */
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

  /** Finds the rows of a relation that walks at this depth go on by. @returns how many */
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

  /** Where the edge leads that is hidden among those of a relation that leave an entity at this depth, or -1. */
  #hiddenFrom(depth: number, relation: number, from: number): number {
    const { tail, pairs, relation: own, inverse } = this.#hidden;
    if (tail < 0 || !(pairs || relation === (depth === 0 ? own : inverse))) return -1;
    if (depth === 0) return from === this.#head ? tail : -1;
    return from === tail ? this.#head : -1;
  }

  /** Takes what is hidden out of these rows: only those of the query's two ends have any of it. @returns how many rows are left */
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
    const place = this.#rows.subarray(0, count).indexOf(row);
    if (depth === 0) this.#skipped = to;
    if (left > 0) {
      this.#worth[place] = chance[from]! / left;
      return count;
    }
    // The order of sums stays that of the rows.
    this.#rows.copyWithin(place, place + 1, count);
    this.#worth.copyWithin(place, place + 1, count);
    return count - 1;
  }
}
