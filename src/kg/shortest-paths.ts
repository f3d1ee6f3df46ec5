/** All shortest paths between two entities: counted by bidirectional search, then enumerated by rank. */
import { WorkbenchError } from '../run/errors.js';
import type { Rng } from '../run/seeds.js';
import { type AdjacencyRows, reversedRows } from './adjacency.js';

type Hidden = number | 'all' | undefined;

const hides = (hidden: Hidden, relation: number | undefined) => hidden === 'all' || relation === hidden;

interface ShortestLimits {
  /** Maximum number of edges, at least 1. */
  horizon: number;
  /**
   * Relation (or all) whose direct edge from head to tail is hidden. The reverse edge needs no hiding: no shortest path returns to its
   * head or leaves its tail.
   */
  hidden?: Hidden;
  most: number;
  /** Draws uniformly if there are more than `most`; default: the first ones. */
  rng?: Rng | undefined;
}

/** One side of the bidirectional search. */
interface Side {
  rows: AdjacencyRows;
  /** uint8 [entities]: 1 + distance from this end, 0 if not reached. */
  depth: Uint8Array;
  /** Entities by distance. */
  levels: number[][];
}

/**
 * Shortest-path search with reusable scratch, for many searches in one graph. Bidirectional: each step expands the side with fewer edges,
 * so that a hub at one end stays cheap.
 */
export class ShortestPaths {
  readonly #forward: Side;
  readonly #backward: Side;
  /** float64 [entities]: number of shortest paths to the tail. */
  readonly #counts: Float64Array;

  /** @param reversed `reversedRows` of the same rows, if available */
  constructor(rows: AdjacencyRows, reversed: AdjacencyRows = reversedRows(rows)) {
    const numEntities = rows.offsets.length - 1;
    const side = (of: AdjacencyRows): Side => ({ rows: of, depth: new Uint8Array(numEntities), levels: [] });
    this.#forward = side(rows);
    this.#backward = side(reversed);
    this.#counts = new Float64Array(numEntities);
  }

  /**
   * Paths as int32 [2 · length], relation and entity of each step, in ascending order; the empty path if head is tail; none if the tail
   * is beyond the horizon.
   * @throws WorkbenchError `usage` for a horizon outside 1..250
   */
  between(head: number, tail: number, { horizon, hidden, most, rng }: ShortestLimits): Int32Array[] {
    if (!(Number.isInteger(horizon) && horizon >= 1 && horizon <= 250)) {
      throw new WorkbenchError('usage', `expected a horizon of 1 to 250 edges, got ${horizon}`);
    }
    if (head === tail) return most > 0 ? [new Int32Array(0)] : [];
    try {
      const length = this.#meet(head, tail, horizon, hidden);
      if (length === 0) return [];
      this.#countForward(tail, hidden);
      const total = this.#counts[head]!;
      const ranks =
        total <= most || !rng
          ? Array.from({ length: Math.min(total, most) }, (_, rank) => rank)
          : distinctRanks(total, most, rng);
      return ranks.map((rank) => this.#pathAt(head, tail, length, rank, hidden));
    } finally {
      this.#clear();
    }
  }

  /** @returns length of the shortest paths, 0 if none; counts of the backward side are then complete */
  #meet(head: number, tail: number, horizon: number, hidden: Hidden): number {
    const [forward, backward] = [this.#forward, this.#backward];
    forward.levels.push([head]);
    backward.levels.push([tail]);
    forward.depth[head] = backward.depth[tail] = 1;
    this.#counts[tail] = 1;
    for (let length = 1; length <= horizon; length++) {
      const ahead = edgesOf(forward) <= edgesOf(backward);
      const side = ahead ? forward : backward;
      const other = ahead ? backward : forward;
      const [from, direct] = ahead ? [head, tail] : [tail, head];
      const next = expand(side, from, direct, hidden, ahead ? undefined : this.#counts);
      if (next.length === 0) return 0;
      if (next.some((entity) => other.depth[entity]! > 0)) return length;
    }
    return 0;
  }

  /** Propagates counts from the meeting level to the head; nothing else on the forward side leads to the tail. */
  #countForward(tail: number, hidden: Hidden): void {
    const { rows, depth, levels } = this.#forward;
    const { offsets, relations, tails } = rows;
    const counts = this.#counts;
    for (let level = levels.length - 2; level >= 0; level--) {
      for (const entity of levels[level]!) {
        let count = 0;
        for (let edge = offsets[entity]!; edge < offsets[entity + 1]!; edge++) {
          const next = tails[edge]!;
          if (depth[next] !== level + 2 || (level === 0 && next === tail && hides(hidden, relations[edge]))) continue;
          count += counts[next]!;
        }
        counts[entity] = count;
      }
    }
  }

  /** Path of a rank in the ascending list of all. */
  #pathAt(head: number, tail: number, length: number, rank: number, hidden: Hidden): Int32Array {
    const { offsets, relations, tails } = this.#forward.rows;
    const ahead = this.#forward.depth;
    const behind = this.#backward.depth;
    const counts = this.#counts;
    const path = new Int32Array(2 * length);
    let current = head;
    let left = rank;
    for (let step = 0; step < length; step++) {
      for (let edge = offsets[current]!; edge < offsets[current + 1]!; edge++) {
        const next = tails[edge]!;
        if (step === 0 && next === tail && hides(hidden, relations[edge])) continue;
        // On the forward side until the sides meet, then on the backward one.
        const onPath = behind[next] === length - step || (behind[next] === 0 && ahead[next] === step + 2);
        if (!onPath) continue;
        if (left < counts[next]!) {
          path[2 * step] = relations[edge]!;
          path[2 * step + 1] = next;
          current = next;
          break;
        }
        left -= counts[next]!;
      }
    }
    return path;
  }

  #clear(): void {
    for (const { depth, levels } of [this.#forward, this.#backward]) {
      for (const level of levels) {
        for (const entity of level) {
          depth[entity] = 0;
          this.#counts[entity] = 0;
        }
      }
      levels.length = 0;
    }
  }
}

/**
 * Next level of a side; the `hidden` edge between the two ends is skipped.
 * @param counts output: paths from each new entity to the start of the side
 */
function expand(
  { rows: { offsets, relations, tails }, depth, levels }: Side,
  from: number,
  direct: number,
  hidden: Hidden,
  counts?: Float64Array,
): number[] {
  const next: number[] = [];
  const reached = levels.length + 1;
  for (const entity of levels.at(-1)!) {
    for (let edge = offsets[entity]!; edge < offsets[entity + 1]!; edge++) {
      const to = tails[edge]!;
      if (to === direct && entity === from && hides(hidden, relations[edge])) continue;
      if (depth[to] === 0) {
        depth[to] = reached;
        next.push(to);
      }
      if (counts && depth[to] === reached) counts[to]! += counts[entity]!;
    }
  }
  levels.push(next);
  return next;
}

function edgesOf({ rows: { offsets }, levels }: Side): number {
  let edges = 0;
  for (const entity of levels.at(-1)!) edges += offsets[entity + 1]! - offsets[entity]!;
  return edges;
}

/** Distinct integers below `total`, ascending. */
function distinctRanks(total: number, most: number, rng: Rng): number[] {
  const drawn = new Set<number>();
  while (drawn.size < most) drawn.add(Math.floor(rng.uniform() * total));
  return [...drawn].sort((a, b) => a - b);
}
