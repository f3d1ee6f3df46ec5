/** Paths between two entities: shortest, or all simple ones. */
import { WorkbenchError } from '../run/errors.js';
import type { Rng } from '../run/seeds.js';
import { type AdjacencyRows, reversedRows } from './adjacency.js';
import { BreadthFirst } from './breadth-first.js';
import { byIds } from './graph.js';

/** Options of `pathsBetween`. */
export interface PathLimits extends SimpleLimits {
  kind: 'shortest' | 'simple';
  most: number;
}

/** Ascending by length, then by ids. */
export interface FoundPaths {
  /** int32 [2 · length] each: relation and entity of each step. Empty if head is tail. */
  paths: Int32Array[];
  /** False if there are more: then shortest paths are the first ones, simple paths those found first. */
  complete: boolean;
}

/** Single search; for many keep a `ShortestPaths` or `SimplePaths`, which reverse the graph once. @throws as their searches */
export function pathsBetween(
  rows: AdjacencyRows,
  head: number,
  tail: number,
  { kind, horizon, hidden, most }: PathLimits,
): FoundPaths {
  const reversed = reversedRows(rows);
  let paths: Int32Array[] = [];
  if (kind === 'shortest') {
    paths = new ShortestPaths(rows, reversed).between(head, tail, { horizon, hidden, most: most + 1 });
  } else {
    new SimplePaths(rows, reversed).each(head, tail, { horizon, hidden }, (path, length) => {
      paths.push(path.slice(0, 2 * length));
      return paths.length > most;
    });
  }
  const complete = paths.length <= most;
  return { paths: paths.slice(0, most).sort((a, b) => a.length - b.length || byIds(a, b)), complete };
}

interface SimpleLimits {
  /** Maximum number of edges, at least 1. */
  horizon: number;
  /** Relation whose direct edge from head to tail is hidden; no such path returns to its head or leaves its tail. */
  hidden?: number | undefined;
}

type Hidden = number | 'all' | undefined;

interface ShortestLimits {
  horizon: number;
  /** The same; `all` hides every direct edge. */
  hidden?: Hidden;
  most: number;
  /** Draws uniformly if there are more than `most`; default: the first ones. */
  rng?: Rng | undefined;
}

const hides = (hidden: Hidden, relation: number | undefined) => hidden === 'all' || relation === hidden;

function checkHorizon(horizon: number, most: number): void {
  if (Number.isInteger(horizon) && horizon >= 1 && horizon <= most) return;
  throw new WorkbenchError('usage', `expected a horizon of 1 to ${most} edges, got ${horizon}`);
}

/**
 * Shortest-path search with reusable scratch, for many searches in one graph: counted by bidirectional search, then enumerated by rank.
 * Each step expands the side with fewer edges, so that a hub at one end stays cheap.
 */
export class ShortestPaths {
  readonly #forward: BreadthFirst;
  readonly #backward: BreadthFirst;
  /** float64 [entities]: number of shortest paths to the tail. */
  readonly #counts: Float64Array;

  /** @param reversed `reversedRows` of the same rows, if available */
  constructor(rows: AdjacencyRows, reversed: AdjacencyRows = reversedRows(rows)) {
    this.#forward = new BreadthFirst(rows);
    this.#backward = new BreadthFirst(reversed);
    this.#counts = new Float64Array(rows.offsets.length - 1);
  }

  /**
   * Paths as int32 [2 · length], relation and entity of each step, in ascending order; the empty path if head is tail; none if the tail
   * is beyond the horizon.
   * @throws WorkbenchError `usage` for a horizon outside 1..250
   */
  between(head: number, tail: number, { horizon, hidden, most, rng }: ShortestLimits): Int32Array[] {
    checkHorizon(horizon, 250);
    if (head === tail) return most > 0 ? [new Int32Array(0)] : [];
    const length = this.#meet(head, tail, horizon, hidden);
    if (length > 0) this.#countForward(tail, hidden);
    const total = length > 0 ? this.#counts[head]! : 0;
    const ranks = total > most && rng ? distinctRanks(total, most, rng) : Array(Math.min(total, most)).keys();
    const paths = Array.from(ranks, (rank) => this.#pathAt(head, tail, length, rank, hidden));
    for (const side of [this.#forward, this.#backward]) {
      for (const level of side.levels) for (const entity of level) this.#counts[entity] = 0;
      side.clear();
    }
    return paths;
  }

  /** @returns length of the shortest paths, 0 if none; counts of the backward side are then complete */
  #meet(head: number, tail: number, horizon: number, hidden: Hidden): number {
    const [forward, backward, counts] = [this.#forward, this.#backward, this.#counts];
    forward.begin([head]);
    backward.begin([tail]);
    counts[tail] = 1;
    const isHidden = (from: number, relation: number, to: number) =>
      from === head && to === tail && hides(hidden, relation);
    for (let length = 1; length <= horizon; length++) {
      const ahead = forward.edges <= backward.edges;
      const next = ahead
        ? forward.expand(undefined, isHidden)
        : backward.expand(
            (from, _relation, to) => (counts[to]! += counts[from]!),
            (from, relation, to) => isHidden(to, relation, from),
          );
      if (next.length === 0) return 0;
      const other = ahead ? backward : forward;
      if (next.some((entity) => other.depth[entity]! > 0)) return length;
    }
    return 0;
  }

  /** Propagates counts from the meeting level to the head; nothing else on the forward side leads to the tail. */
  #countForward(tail: number, hidden: Hidden): void {
    const { depth, levels, rows } = this.#forward;
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
}

/** Distinct integers below `total`, ascending. */
function distinctRanks(total: number, most: number, rng: Rng): number[] {
  const drawn = new Set<number>();
  while (drawn.size < most) drawn.add(Math.floor(rng.uniform() * total));
  return [...drawn].sort((a, b) => a - b);
}

/** Receives relation and entity of each of `length` steps; the array is reused. Return true to stop. */
type PathVisitor = (path: Int32Array, length: number) => boolean | void;

/**
 * Simple-path search (no repeated entity) with reusable scratch, for many searches in one graph. Walks from the end whose neighbourhood
 * has fewer edges and prunes by distance to the other end.
 */
export class SimplePaths {
  readonly #forward: BreadthFirst;
  readonly #backward: BreadthFirst;
  readonly #onPath: Uint8Array;
  /** int32 [entities]: 1 + index, in the goal's row, of the first edge from here to the goal. */
  readonly #firstLast: Int32Array;
  #nextLast = new Int32Array(0);

  /** @param reversed `reversedRows` of the same rows, if available */
  constructor(rows: AdjacencyRows, reversed: AdjacencyRows = reversedRows(rows)) {
    this.#forward = new BreadthFirst(rows);
    this.#backward = new BreadthFirst(reversed);
    this.#onPath = new Uint8Array(rows.offsets.length - 1);
    this.#firstLast = new Int32Array(rows.offsets.length - 1);
  }

  /**
   * Visits every simple path of 1 to `horizon` edges in a fixed order; only the empty path if head is tail. Time: number of paths, plus
   * the edges within half the horizon of either end.
   * @throws WorkbenchError `usage` for a horizon outside 1..16
   */
  each(head: number, tail: number, { horizon, hidden }: SimpleLimits, visit: PathVisitor): void {
    checkHorizon(horizon, 16);
    if (head === tail) {
      visit(new Int32Array(0), 0);
      return;
    }
    const [own, other] = [this.#forward, this.#backward];
    const backwards = edgesAround(other.rows, tail) < edgesAround(own.rows, head);
    const ends = backwards ? ([tail, head] as const) : ([head, tail] as const);
    const [{ rows }, opposite] = backwards ? [other, own] : [own, other];
    opposite.begin([ends[1]]);
    for (let depth = 0; depth < horizon >> 1; depth++) opposite.expand();
    this.#listLast(opposite.rows, ends[1]);
    try {
      const given = { horizon, hidden, visit: backwards ? turned(tail, horizon, visit) : visit };
      this.#walk(rows, opposite, ends, given);
    } finally {
      opposite.clear();
      const { offsets, tails } = opposite.rows;
      for (let edge = offsets[ends[1]]!; edge < offsets[ends[1] + 1]!; edge++) this.#firstLast[tails[edge]!] = 0;
    }
  }

  /** Indexes the goal's edges by their other end, so that the walk need not search a hub's row. */
  #listLast({ offsets, tails }: AdjacencyRows, goal: number): void {
    const begin = offsets[goal]!;
    const count = offsets[goal + 1]! - begin;
    if (this.#nextLast.length < count) this.#nextLast = new Int32Array(2 * count);
    for (let index = count - 1; index >= 0; index--) {
      const before = tails[begin + index]!;
      this.#nextLast[index] = this.#firstLast[before]!;
      this.#firstLast[before] = index + 1;
    }
  }

  /** Iterative depth-first search: `edges[k]` is the next edge to try from the k-th entity of the walk. */
  #walk(
    { offsets, relations, tails }: AdjacencyRows,
    { rows: opposite, depth: ahead }: BreadthFirst,
    [start, goal]: readonly [number, number],
    { horizon, hidden, visit }: SimpleLimits & { visit: PathVisitor },
  ): void {
    const onPath = this.#onPath;
    const sight = horizon >> 1;
    const intoGoal = opposite.offsets[goal]!;
    const path = new Int32Array(2 * horizon);
    const walked = [start];
    const edges = [offsets[start]!];
    onPath[start] = onPath[goal] = 1;
    const goOn = (): boolean => {
      const steps = walked.length - 1;
      for (let index = this.#firstLast[walked[steps]!]!; index > 0; index = this.#nextLast[index - 1]!) {
        const relation = opposite.relations[intoGoal + index - 1]!;
        if (steps === 0 && relation === hidden) continue;
        path[2 * steps] = relation;
        path[2 * steps + 1] = goal;
        if (visit(path, steps + 1) === true) return false;
      }
      return true;
    };
    let running = goOn();
    while (running && walked.length > 0) {
      const steps = walked.length - 1;
      const from = walked[steps]!;
      // Edges left after the next one; with none left only the goal matters, which was visited already.
      const left = horizon - steps - 1;
      const end = left > 0 ? offsets[from + 1]! : 0;
      let edge = edges[steps]!;
      while (edge < end && !mayPass(ahead, onPath, tails[edge]!, left, sight)) edge++;
      if (edge >= end) {
        onPath[from] = 0;
        walked.pop();
        edges.pop();
        continue;
      }
      edges[steps] = edge + 1;
      const to = tails[edge]!;
      path[2 * steps] = relations[edge]!;
      path[2 * steps + 1] = to;
      onPath[to] = 1;
      walked.push(to);
      edges.push(offsets[to]!);
      running = goOn();
    }
    for (const entity of walked) onPath[entity] = 0;
    onPath[goal] = 0;
  }
}

/** True if a walk with `left` more edges may enter an entity: not on the path, and not too far from the goal. */
function mayPass(ahead: Uint8Array, onPath: Uint8Array, entity: number, left: number, sight: number): boolean {
  if (onPath[entity] === 1) return false;
  return ahead[entity]! > 0 ? ahead[entity]! - 1 <= left : left > sight;
}

/** Visitor for a search from the tail: reverses each path. */
function turned(tail: number, horizon: number, visit: PathVisitor): PathVisitor {
  const path = new Int32Array(2 * horizon);
  return (walked, length) => {
    for (let step = 0; step < length; step++) {
      const there = length - 1 - step;
      path[2 * step] = walked[2 * there]!;
      // The tail is the start of the walk, so it is not in the array.
      path[2 * step + 1] = there === 0 ? tail : walked[2 * there - 1]!;
    }
    return visit(path, length);
  };
}

/** Edges of an entity and its neighbours: cost of two steps. */
function edgesAround({ offsets, tails }: AdjacencyRows, entity: number): number {
  let edges = 0;
  for (let edge = offsets[entity]!; edge < offsets[entity + 1]!; edge++) {
    edges += 1 + offsets[tails[edge]! + 1]! - offsets[tails[edge]!]!;
  }
  return edges;
}
