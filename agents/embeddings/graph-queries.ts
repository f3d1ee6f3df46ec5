/** A graph's own facts as queries: what a table is trained on that shall hold the whole of it. */
import type { Graph } from '../../src/kg/graph.js';
import type { QueryGroups } from './bilinear-step.js';

/** Every (head, relation) that the graph has edges for, with its tails; inverses are relations like others. */
export function graphQueries({
  offsets,
  relations,
  tails,
}: Pick<Graph, 'offsets' | 'relations' | 'tails'>): QueryGroups {
  const groups = { givens: [] as number[], relations: [] as number[], offsets: [] as number[] };
  for (let head = 0; head + 1 < offsets.length; head++) {
    for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) {
      if (edge > offsets[head]! && relations[edge] === relations[edge - 1]) continue;
      groups.givens.push(head);
      groups.relations.push(relations[edge]!);
      groups.offsets.push(edge);
    }
  }
  groups.offsets.push(tails.length);
  return {
    givens: Int32Array.from(groups.givens),
    relations: Int32Array.from(groups.relations),
    offsets: Int32Array.from(groups.offsets),
    answers: tails,
  };
}
