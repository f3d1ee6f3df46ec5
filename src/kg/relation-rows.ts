/** Edges by relation, for walks along given relations: no search among all edges of an entity. */
import { int32Column } from './adjacency.js';
import type { Graph, TripleColumns } from './graph.js';

/** Edges sorted by relation, head, tail; in shared memory, so that threads need no copies. */
export interface RelationRows {
  /** int32 [numRelations + 1]: rows of relation `r` are `begins[r] .. begins[r + 1] - 1`. */
  begins: Int32Array;
  /** int32 [rows]: head of each row, ascending among the rows of a relation. */
  heads: Int32Array;
  /** int32 [rows + 1]: edges of row `i` are `edges[i] .. edges[i + 1] - 1`. */
  edges: Int32Array;
  /** int32 [numEdges]: tail of each edge, ascending in a row. */
  tails: Int32Array;
}

/** O(edges). Memory: 4 bytes an edge and 8 per (head, relation) pair. */
export function relationRows({ offsets, relations, tails, numRelations, numEntities }: Graph): RelationRows {
  const begins = int32Column(numRelations + 1);
  const edgeCounts = new Int32Array(numRelations + 1);
  const startsRow = (head: number, edge: number) => edge === offsets[head] || relations[edge - 1] !== relations[edge];
  for (let head = 0; head < numEntities; head++) {
    for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) {
      edgeCounts[relations[edge]! + 1]!++;
      if (startsRow(head, edge)) begins[relations[edge]! + 1]!++;
    }
  }
  for (let relation = 0; relation < numRelations; relation++) {
    begins[relation + 1]! += begins[relation]!;
    edgeCounts[relation + 1]! += edgeCounts[relation]!;
  }
  const rows = begins[numRelations]!;
  const byRelation = {
    begins,
    heads: int32Column(rows),
    edges: int32Column(rows + 1),
    tails: int32Column(tails.length),
  };
  const nextRow = begins.slice(0, numRelations);
  const nextEdge = edgeCounts.slice(0, numRelations);
  for (let head = 0; head < numEntities; head++) {
    for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) {
      const relation = relations[edge]!;
      const index = nextEdge[relation]!++;
      if (startsRow(head, edge)) {
        const row = nextRow[relation]!++;
        byRelation.heads[row] = head;
        byRelation.edges[row] = index;
      }
      byRelation.tails[index] = tails[edge]!;
    }
  }
  byRelation.edges[rows] = tails.length;
  return byRelation;
}

/** Triples by relation, in shared memory: those of relation `r` are `offsets[r] .. offsets[r + 1] - 1`, in their order. */
export type TriplesByRelation = Omit<TripleColumns, 'relations'> & { offsets: Int32Array };

/** O(triples). */
export function triplesByRelation(triples: TripleColumns, numRelations: number): TriplesByRelation {
  const offsets = int32Column(numRelations + 1);
  for (const relation of triples.relations) offsets[relation + 1]!++;
  for (let relation = 0; relation < numRelations; relation++) offsets[relation + 1]! += offsets[relation]!;
  const [heads, tails] = [int32Column(triples.heads.length), int32Column(triples.heads.length)];
  const next = offsets.slice();
  triples.relations.forEach((relation, i) => {
    const index = next[relation]!++;
    heads[index] = triples.heads[i]!;
    tails[index] = triples.tails[i]!;
  });
  return { offsets, heads, tails };
}

/** Row of a head within a relation, or -1. O(log rows). */
export function rowOf({ begins, heads }: Heads, relation: number, head: number): number {
  return placeOf(heads, begins[relation]!, begins[relation + 1]!, head);
}

type Heads = Pick<RelationRows, 'begins' | 'heads'>;

/** True if a row contains a tail. O(log edges of the row). */
export function rowHolds({ edges, tails }: Pick<RelationRows, 'edges' | 'tails'>, row: number, tail: number): boolean {
  return placeOf(tails, edges[row]!, edges[row + 1]!, tail) >= 0;
}

/** Number of tails of (head, relation). O(log rows). */
export function numTails(rows: Heads & Pick<RelationRows, 'edges'>, relation: number, head: number): number {
  const row = rowOf(rows, relation, head);
  return row < 0 ? 0 : rows.edges[row + 1]! - rows.edges[row]!;
}

/** Index of a value among the ascending `values[begin .. end - 1]`, or -1. */
function placeOf(values: Int32Array, begin: number, end: number, wanted: number): number {
  let low = begin;
  let high = end - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const order = values[middle]! - wanted;
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
