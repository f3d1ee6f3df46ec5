/** Out-edges as lists of actions: all of a graph's, or a seeded choice where an entity has too many. */
import type { RelationColumn } from '../src/kg/adjacency.js';
import type { Rng } from '../src/run/seeds.js';

/** Edges in compressed sparse rows, those of one head ordered by (relation, tail). */
export interface EdgeLists {
  /** int32 [numEntities + 1]: edges of `head` are `offsets[head] .. offsets[head + 1] - 1`. */
  offsets: Int32Array;
  /** [edges]: relation id of each; uint16 up to 65,536 relations, else int32. */
  relations: RelationColumn;
  /** int32 [edges]: entity id at the end of each. */
  tails: Int32Array;
}

/** Every list with at most `most` edges: longer ones keep a uniform choice, in their order. New arrays. */
export function cutEdges({ offsets, relations, tails }: EdgeLists, most: number, rng: Rng): EdgeLists {
  const kept = new Int32Array(offsets.length);
  for (let head = 0; head + 1 < offsets.length; head++) {
    kept[head + 1] = kept[head]! + Math.min(most, offsets[head + 1]! - offsets[head]!);
  }
  const cut = { offsets: kept, relations: relations.slice(0, kept.at(-1)), tails: new Int32Array(kept.at(-1)!) };
  let at = 0;
  for (let head = 0; head + 1 < offsets.length; head++) {
    let wanted = kept[head + 1]! - kept[head]!;
    // Each edge is kept with the chance that what is still wanted has among what is left.
    for (let edge = offsets[head]!; wanted > 0; edge++) {
      if (wanted < offsets[head + 1]! - edge && rng.integer(offsets[head + 1]! - edge) >= wanted) continue;
      cut.relations[at] = relations[edge]!;
      cut.tails[at++] = tails[edge]!;
      wanted--;
    }
  }
  return cut;
}

/** Place of the edge (head, relation, tail) in its head's list, or -1. O(log degree). */
export function placeOfEdge(
  { offsets, relations, tails }: EdgeLists,
  head: number,
  relation: number,
  tail: number,
): number {
  let low = offsets[head]!;
  let high = offsets[head + 1]! - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const order = relations[middle]! - relation || tails[middle]! - tail;
    if (order === 0) return middle - offsets[head]!;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
