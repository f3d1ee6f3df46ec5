/** How far a walk can get. */
import type { Graph } from './graph.js';

/** Number of distinct entities other than `start` that a walk of at most `hops` edges can end at. O(edges met). */
export function countReachable(graph: Graph, start: number, hops: number): number {
  if (start < 0) return 0;
  const seen = new Uint8Array(graph.numEntities);
  seen[start] = 1;
  let reached = 0;
  let frontier = [start];
  for (let hop = 0; hop < hops; hop++) {
    const next: number[] = [];
    for (const entity of frontier) {
      for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
        const tail = graph.tails[edge]!;
        if (seen[tail]) continue;
        seen[tail] = 1;
        next.push(tail);
      }
    }
    reached += next.length;
    frontier = next;
  }
  return reached;
}
