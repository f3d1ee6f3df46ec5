/** All shortest paths between two entities: counted from both ends, then read off one by one. */
import { WorkbenchError } from '../run/errors.js';
import type { Rng } from '../run/seeds.js';
import { type AdjacencyRows, reversedRows } from './adjacency.js';

type Hidden = number | 'all' | undefined;

const hides = (hidden: Hidden, relation: number | undefined) => hidden === 'all' || relation === hidden;

interface ShortestLimits {
  /** Edges of the longest path, at least 1. */
  horizon: number;
  /**
   * Relation whose edge from head straight to tail is not there, or all of them. Backwards they need no hiding: no shortest path
   * enters its head again or goes on from its tail.
   */
  hidden?: Hidden;
  most: number;
  /** Draws which of them where there are more, each as likely as any other; without it they are the first. */
  rng?: Rng | undefined;
}

/** What is reached from one end: levels of a breadth-first search. */
interface Side {
  rows: AdjacencyRows;
  /** uint8 [entities]: 1 + distance from the end, 0 where it was not reached. */
  depth: Uint8Array;
  /** Entities by distance. */
  levels: number[][];
}

/**
 * Finds shortest paths in one graph, again and again: the room that a search needs is made once. A search goes from both ends,
 * each time from the one whose entities have fewer edges, so that a hub at one end costs little.
 */
export class ShortestPaths {
  readonly #forward: Side;
  readonly #backward: Side;
  /** float64 [entities]: shortest paths from here to the tail, of those that the search met. */
  readonly #counts: Float64Array;

  /** @param reversed what `reversedRows` gives for the same rows, where it is at hand */
  constructor(rows: AdjacencyRows, reversed: AdjacencyRows = reversedRows(rows)) {
    const numEntities = rows.offsets.length - 1;
    const side = (of: AdjacencyRows): Side => ({ rows: of, depth: new Uint8Array(numEntities), levels: [] });
    this.#forward = side(rows);
    this.#backward = side(reversed);
    this.#counts = new Float64Array(numEntities);
  }

  /**
   * Paths as int32 [2 · length], relation and entity of each step, in ascending order of those numbers; the empty one where
   * head is tail; none where the tail is farther than the horizon.
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

  /** @returns length of the shortest paths, 0 where there is none; counts of the backward side are then complete */
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

  /** Carries the counts from where the sides met to the head. Nothing else of the forward side leads to the tail. */
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

  /** The path at a place of the ascending list of all. */
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
        // On the forward side until the sides meet, then down the backward one.
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
 * The next level of a side; the edge of the relation `hidden` between the two ends is not there.
 * @param counts where given: receives the number of paths from each new entity to where the side began
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

/** Some of the first `total` whole numbers, ascending. */
function distinctRanks(total: number, most: number, rng: Rng): number[] {
  const drawn = new Set<number>();
  while (drawn.size < most) drawn.add(Math.floor(rng.uniform() * total));
  return [...drawn].sort((a, b) => a - b);
}
