/** Every path between two entities that enters no entity twice, up to a length. */
import { WorkbenchError } from '../run/errors.js';
import { type AdjacencyRows, reversedRows } from './adjacency.js';

export interface SimpleLimits {
  /** Edges of the longest path, at least 1. */
  horizon: number;
  /**
   * Relation whose edge from head straight to tail is not there. Backwards it needs no hiding: no simple path enters its head
   * again or goes on from its tail.
   */
  hidden?: number | undefined;
}

/**
 * Told each path: relation and entity of each of its `length` steps. The array is used again for the next one.
 * Returning true ends the search.
 */
type PathVisitor = (path: Int32Array, length: number) => boolean | void;

/**
 * Finds simple paths in one graph, again and again: the room that a search needs is made once. A search walks from the end
 * whose neighbours have fewer edges and looks ahead from the other, so that dead ends are left a few steps before them.
 */
export class SimplePaths {
  readonly #rows: AdjacencyRows;
  readonly #reversed: AdjacencyRows;
  /** uint8 [entities]: 1 + distance to the goal, 0 beyond what was looked ahead. */
  readonly #ahead: Uint8Array;
  readonly #onPath: Uint8Array;
  /** int32 [entities]: first of the edges that lead from here to the goal, as 1 + place in the goal's row. */
  readonly #firstLast: Int32Array;
  #nextLast = new Int32Array(0);

  /** @param reversed what `reversedRows` gives for the same rows, where it is at hand */
  constructor(rows: AdjacencyRows, reversed: AdjacencyRows = reversedRows(rows)) {
    const numEntities = rows.offsets.length - 1;
    this.#rows = rows;
    this.#reversed = reversed;
    this.#ahead = new Uint8Array(numEntities);
    this.#onPath = new Uint8Array(numEntities);
    this.#firstLast = new Int32Array(numEntities);
  }

  /**
   * Visits every simple path of 1 to `horizon` edges, in an order that is always the same; the empty path alone where head is
   * tail. Time grows with the number of paths, and with the edges of all that is within half the horizon of either end.
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

  /** Marks what is within `depth` edges of the goal. */
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

  /** Lists the edges that end at the goal by where they begin, so that a walk need not look for them in a hub's row. */
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

  /** Depth first, without recursion: `edges[k]` is the edge to be tried next from the k-th entity of the walk. */
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
      // Edges left after the next one; with none, only the goal is worth a step, and it has been visited.
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

/** Whether a walk with `left` more edges may go through an entity: new to it, and not known to be too far from the goal. */
function mayPass(ahead: Uint8Array, onPath: Uint8Array, entity: number, left: number, sight: number): boolean {
  if (onPath[entity] === 1) return false;
  return ahead[entity]! > 0 ? ahead[entity]! - 1 <= left : left > sight;
}

/** The visitor of a search that walked from the tail: each path the other way round. */
function turned(tail: number, horizon: number, visit: PathVisitor): PathVisitor {
  const path = new Int32Array(2 * horizon);
  return (walked, length) => {
    for (let step = 0; step < length; step++) {
      const there = length - 1 - step;
      path[2 * step] = walked[2 * there]!;
      // What a step leads to, the walk from the tail had entered before; the tail itself is where it began.
      path[2 * step + 1] = there === 0 ? tail : walked[2 * there - 1]!;
    }
    return visit(path, length);
  };
}

/** Edges of an entity and of its neighbours: what two steps look at. */
function edgesAround({ offsets, tails }: AdjacencyRows, entity: number): number {
  let edges = 0;
  for (let edge = offsets[entity]!; edge < offsets[entity + 1]!; edge++) {
    edges += 1 + offsets[tails[edge]! + 1]! - offsets[tails[edge]!]!;
  }
  return edges;
}
