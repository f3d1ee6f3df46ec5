/** The graph of relations that meet: it has the relations of another as its nodes, in which nothing depends on their names or number. */
import { Graph, type TripleColumns } from '../../../src/kg/graph.js';
import { WorkbenchError } from '../../../src/run/errors.js';

/**
 * Ways in which two relations a, b meet: an entity is the head of both, a head of a and tail of b …; b is the inverse of a; both link the same
 * pair.
 */
export const meetings = ['head-head', 'head-tail', 'tail-head', 'tail-tail', 'inverse', 'pair', 'pair-of'] as const;

/** Number of entities that are heads of both of two relations, and of pairs that both link: [relations, relations]. */
function counts({ offsets, relations, tails, numEntities, numRelations }: Graph) {
  const [heads, pairs] = [new Int32Array(numRelations ** 2), new Int32Array(numRelations ** 2)];
  const add = (to: Int32Array, own: Iterable<number>) => {
    const list = [...own];
    for (const a of list) for (const b of list) to[a * numRelations + b]!++;
  };
  for (let entity = 0; entity < numEntities; entity++) {
    const byTail = new Map<number, number[]>();
    for (let edge = offsets[entity]!; edge < offsets[entity + 1]!; edge++) {
      const own = byTail.get(tails[edge]!);
      if (own) own.push(relations[edge]!);
      else byTail.set(tails[edge]!, [relations[edge]!]);
    }
    add(heads, new Set(relations.subarray(offsets[entity]!, offsets[entity + 1]!)));
    for (const own of byTail.values()) add(pairs, own);
  }
  return { heads, pairs };
}

/** Relations, inverses included, beyond which the meetings of all pairs take more memory than a machine has. */
const mostRelations = 2048;

/**
 * Nodes are the relations of `graph` by id, inverses included; edges lead from a to each b that it meets.
 * @returns with the share of each edge, float32 [edges]: of b's heads (tails, pairs) those that are a's too; of `pair-of`, a's that are b's
 * @throws WorkbenchError `data` for more than 1,024 relations
 * @source Galkin et al. 2024, "Towards foundation models for knowledge graph reasoning" (ULTRA), section 4.1; inverses, pairs and shares are ours
 */
export function relationGraph(graph: Graph): { graph: Graph; shares: Float32Array } {
  const { numRelations, inverseOf, relationNames } = graph;
  if (numRelations > mostRelations) {
    const message = `expected at most ${mostRelations / 2} relations for weights that follow from how relations meet, got ${numRelations / 2}`;
    throw new WorkbenchError('data', message, {
      hint: 'Weights by names (exactWalker.messages.relations=names) and chains have no such bound.',
    });
  }
  const { heads, pairs } = counts(graph);
  const at = (of: Int32Array, a: number, b: number) => of[a * numRelations + b]!;
  const share = (kind: number, a: number, b: number): number => {
    const [ofTail, back] = [inverseOf[a]!, inverseOf[b]!];
    const ofHeads = (one: number, other: number) => at(heads, one, other) / at(heads, other, other);
    if (kind === 0) return a === b ? 0 : ofHeads(a, b);
    if (kind === 1) return ofHeads(a, back);
    if (kind === 2) return ofHeads(ofTail, b);
    if (kind === 3) return a === b ? 0 : ofHeads(ofTail, back);
    if (kind === 4) return b === ofTail ? 1 : 0;
    if (a === b) return 0;
    return at(pairs, a, b) / (kind === 5 ? at(pairs, b, b) : at(pairs, a, a));
  };
  const triples: Record<keyof TripleColumns, number[]> = { heads: [], relations: [], tails: [] };
  const shares: number[] = [];
  // In the order of a graph's edges.
  for (let a = 0; a < numRelations; a++) {
    for (let kind = 0; kind < meetings.length; kind++) {
      for (let b = 0; b < numRelations; b++) {
        const own = share(kind, a, b);
        if (!(own > 0)) continue;
        triples.heads.push(a);
        triples.relations.push(kind);
        triples.tails.push(b);
        shares.push(own);
      }
    }
  }
  const columns = {
    heads: Int32Array.from(triples.heads),
    relations: Int32Array.from(triples.relations),
    tails: Int32Array.from(triples.tails),
  };
  return { graph: new Graph('relations', relationNames, meetings, columns), shares: Float32Array.from(shares) };
}
