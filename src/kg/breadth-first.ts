/** Breadth-first search over adjacency rows. */
import type { AdjacencyRows } from './adjacency.js';

type Edge<Answer> = (from: number, relation: number, to: number) => Answer;

/** A search level by level with reusable scratch: a byte an entity. */
export class BreadthFirst {
  /** uint8 [entities]: 1 + distance, up to 254; 0 where not reached. */
  readonly depth: Uint8Array;
  /** Entities by distance, in the order they were reached. */
  readonly levels: number[][] = [];

  constructor(readonly rows: AdjacencyRows) {
    this.depth = new Uint8Array(rows.offsets.length - 1);
  }

  /** Starts again. @param starts may repeat */
  begin(starts: readonly number[]): void {
    this.clear();
    for (const start of starts) this.depth[start] = 1;
    this.levels.push([...new Set(starts)]);
  }

  /**
   * Reaches the next level.
   * @param visit each edge from the last level to the new one, `isNew` if it is the first to its end: the edges of all shortest paths
   * @param skips edges that are not there
   */
  expand(visit?: (...edge: [...Parameters<Edge<void>>, isNew: boolean]) => void, skips?: Edge<boolean>): number[] {
    const { offsets, relations, tails } = this.rows;
    const { depth, levels } = this;
    const reached = Math.min(255, levels.length + 1);
    const next: number[] = [];
    for (const from of levels.at(-1)!) {
      for (let edge = offsets[from]!; edge < offsets[from + 1]!; edge++) {
        const to = tails[edge]!;
        const isNew = depth[to] === 0;
        if (!isNew && depth[to] !== reached) continue;
        if (skips?.(from, relations[edge]!, to)) continue;
        if (isNew) {
          depth[to] = reached;
          next.push(to);
        }
        visit?.(from, relations[edge]!, to, isNew);
      }
    }
    levels.push(next);
    return next;
  }

  /** Edges that the next `expand` reads. */
  get edges(): number {
    const { offsets } = this.rows;
    return this.levels.at(-1)!.reduce((sum, entity) => sum + offsets[entity + 1]! - offsets[entity]!, 0);
  }

  clear(): void {
    for (const level of this.levels) for (const entity of level) this.depth[entity] = 0;
    this.levels.length = 0;
  }
}

/** Number of distinct entities other than `start` within `hops` edges. O(edges visited). */
export function countReachable(rows: AdjacencyRows, start: number, hops: number): number {
  if (start < 0) return 0;
  const search = new BreadthFirst(rows);
  search.begin([start]);
  let reached = 0;
  for (let hop = 0; hop < hops; hop++) reached += search.expand().length;
  return reached;
}
