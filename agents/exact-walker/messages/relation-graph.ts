/** The graph of relations that meet: it has the relations of another as its nodes, in which nothing depends on their names or number. */
import { Graph, type TripleColumns } from '../../../src/kg/graph.js';

/** Ways in which two relations a, b meet: an entity is the head of both, a head of a and tail of b …; b is the inverse of a. */
export const meetings = ['head-head', 'head-tail', 'tail-head', 'tail-tail', 'inverse'] as const;

/**
 * Nodes are the relations of `graph` by id, inverses included; edges lead from a to each b that it meets.
 * @source Galkin et al. 2024, "Towards foundation models for knowledge graph reasoning" (ULTRA), section 4.1; the inverse is ours
 */
export function relationGraph({ offsets, relations, numEntities, numRelations, inverseOf, relationNames }: Graph) {
  // Entry (a, b): some entity has edges of both.
  const both = new Uint8Array(numRelations * numRelations);
  for (let entity = 0; entity < numEntities; entity++) {
    const own = [...new Set(relations.subarray(offsets[entity]!, offsets[entity + 1]!))];
    for (const a of own) for (const b of own) both[a * numRelations + b] = 1;
  }
  const triples: Record<keyof TripleColumns, number[]> = { heads: [], relations: [], tails: [] };
  const add = (a: number, kind: number, b: number) => {
    triples.heads.push(a);
    triples.relations.push(kind);
    triples.tails.push(b);
  };
  const meets = (a: number, b: number) => both[a * numRelations + b] === 1;
  for (let a = 0; a < numRelations; a++) {
    const ofTail = inverseOf[a]!;
    for (let b = 0; b < numRelations; b++) {
      const back = inverseOf[b]!;
      if (a !== b && meets(a, b)) add(a, 0, b);
      if (meets(a, back)) add(a, 1, b);
      if (meets(ofTail, b)) add(a, 2, b);
      if (a !== b && meets(ofTail, back)) add(a, 3, b);
    }
    add(a, 4, ofTail);
  }
  const { heads, relations: kinds, tails } = triples;
  const columns = { heads: Int32Array.from(heads), relations: Int32Array.from(kinds), tails: Int32Array.from(tails) };
  return new Graph('relations', relationNames, meetings, columns);
}
