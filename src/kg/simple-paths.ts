/** All simple paths (no repeated entity) between two entities, up to a length. */
import { WorkbenchError } from '../run/errors.js';
import { type AdjacencyRows, reversedRows } from './adjacency.js';

export interface SimpleLimits {
  /** Maximum number of edges, at least 1. */
  horizon: number;
  /**
   * Relation whose direct edge from head to tail is hidden. The reverse edge needs no hiding: no simple path returns to its head or
   * leaves its tail.
   */
  hidden?: number | undefined;
}

/** Receives relation and entity of each of `length` steps; the array is reused. Return true to stop. */
type PathVisitor = (path: Int32Array, length: number) => boolean | void;

/**
 * Simple-path search with reusable scratch, for many searches in one graph. Walks from the end whose neighbourhood has fewer edges and
 * prunes by distance to the other end.
 */
export class SimplePaths {
  readonly #rows: AdjacencyRows;
  readonly #reversed: AdjacencyRows;
  /** uint8 [entities]: 1 + distance to the goal, 0 beyond the look-ahead. */
  readonly #ahead: Uint8Array;
  readonly #onPath: Uint8Array;
  /** int32 [entities]: 1 + index, in the goal's row, of the first edge from here to the goal. */
  readonly #firstLast: Int32Array;
  #nextLast = new Int32Array(0);

  /** @param reversed `reversedRows` of the same rows, if available */
  constructor(rows: AdjacencyRows, reversed: AdjacencyRows = reversedRows(rows)) {
    const numEntities = rows.offsets.length - 1;
    this.#rows = rows;
    this.#reversed = reversed;
    this.#ahead = new Uint8Array(numEntities);
    this.#onPath = new Uint8Array(numEntities);
    this.#firstLast = new Int32Array(numEntities);
  }

  /**
   * Visits every simple path of 1 to `horizon` edges in a fixed order; only the empty path if head is tail. Time: number of paths, plus
   * the edges within half the horizon of either end.
   * @throws WorkbenchError `usage` for a horizon outside 1..16
   */
  each(head: number, tail: number, { horizon, hidden }: SimpleLimits, visit: PathVisitor): void {
    if (!(Number.isInteger(horizon) && horizon >= 1 && horizon <= 16)) {
      throw new WorkbenchError('usage', `expected a horizon of 1 to 16 edges, got ${horizon}`);
    }
    if (head === tail) {
      visit(new Int32Array(0), 0);
      return;
    }
    const backwards = edgesAround(this.#reversed, tail) < edgesAround(this.#rows, head);
    const [start, goal] = backwards ? [tail, head] : [head, tail];
    const [rows, opposite] = backwards ? [this.#reversed, this.#rows] : [this.#rows, this.#reversed];
    const touched = this.#lookAhead(opposite, goal, horizon >> 1);
    this.#listLast(opposite, goal);
    try {
      const given = { horizon, hidden, visit: backwards ? turned(tail, horizon, visit) : visit };
      this.#walk(rows, opposite, start, goal, given);
    } finally {
      for (const entity of touched) this.#ahead[entity] = 0;
      const { offsets, tails } = opposite;
      for (let edge = offsets[goal]!; edge < offsets[goal + 1]!; edge++) this.#firstLast[tails[edge]!] = 0;
    }
  }

  /** Marks entities within `depth` edges of the goal. */
  #lookAhead({ offsets, tails }: AdjacencyRows, goal: number, depth: number): number[] {
    const ahead = this.#ahead;
    const touched = [goal];
    ahead[goal] = 1;
    for (let level = 1, from = 0; level <= depth; level++) {
      const until = touched.length;
      for (; from < until; from++) {
        for (let edge = offsets[touched[from]!]!; edge < offsets[touched[from]! + 1]!; edge++) {
          if (ahead[tails[edge]!]! > 0) continue;
          ahead[tails[edge]!] = level + 1;
          touched.push(tails[edge]!);
        }
      }
    }
    return touched;
  }

  /** Indexes the goal's edges by their other end, so that the walk need not search a hub's row. */
  #listLast({ offsets, tails }: AdjacencyRows, goal: number): void {
    const begin = offsets[goal]!;
    const count = offsets[goal + 1]! - begin;
    if (this.#nextLast.length < count) this.#nextLast = new Int32Array(2 * count);
    for (let place = count - 1; place >= 0; place--) {
      const before = tails[begin + place]!;
      this.#nextLast[place] = this.#firstLast[before]!;
      this.#firstLast[before] = place + 1;
    }
  }

  /** Iterative depth-first search: `edges[k]` is the next edge to try from the k-th entity of the walk. */
  #walk(
    { offsets, relations, tails }: AdjacencyRows,
    opposite: AdjacencyRows,
    start: number,
    goal: number,
    { horizon, hidden, visit }: SimpleLimits & { visit: PathVisitor },
  ): void {
    const ahead = this.#ahead;
    const onPath = this.#onPath;
    const sight = horizon >> 1;
    const intoGoal = opposite.offsets[goal]!;
    const path = new Int32Array(2 * horizon);
    const walked = [start];
    const edges = [offsets[start]!];
    onPath[start] = onPath[goal] = 1;
    const goOn = (): boolean => {
      const steps = walked.length - 1;
      for (let place = this.#firstLast[walked[steps]!]!; place > 0; place = this.#nextLast[place - 1]!) {
        const relation = opposite.relations[intoGoal + place - 1]!;
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
