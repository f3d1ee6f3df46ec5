/** Edges by where they end. */
import { adjacencyOf, type AdjacencyRows } from './adjacency.js';

/**
 * The same edges, each in the row of its tail: `tails` then holds heads, and relations stay those of the edge as it is
 * walked forwards. New arrays; linear in edges.
 */
export function reversedRows({ offsets, relations, tails }: AdjacencyRows): AdjacencyRows {
  const numEntities = offsets.length - 1;
  let numRelations = 0;
  for (const relation of relations) if (relation >= numRelations) numRelations = relation + 1;
  return adjacencyOf(numEntities, numRelations, (take) => {
    for (let head = 0; head < numEntities; head++) {
      for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) take(tails[edge]!, relations[edge]!, head);
    }
  });
}
