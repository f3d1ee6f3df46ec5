/** What there is to know of valid and test triples before a score on them is trusted. */
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import type { LinkManifest } from './link-manifest.js';

/** What the manifest says of triples that are judged, beside how they were read. */
export type JudgedCounts = Omit<LinkManifest['splits']['test'], 'triples' | 'duplicates' | 'inverseLines'>;

/** @param graph of the training triples and their inverses, plain relations first */
export function countJudged(graph: Graph, { heads, relations, tails }: TripleColumns): JudgedCounts {
  const plain = graph.numRelations / 2;
  const usedRelations = new Set(graph.relations);
  const unseen = { entities: new Set<number>(), relations: new Set<number>() };
  const counts = { ofEntities: 0, ofRelations: 0, reversed: 0, symmetric: 0 };
  for (let i = 0; i < heads.length; i++) {
    const [head, relation, tail] = [heads[i]!, relations[i]!, tails[i]!];
    const lacking = [head, tail].filter((entity) => graph.degree(entity) === 0);
    for (const entity of lacking) unseen.entities.add(entity);
    if (lacking.length > 0) counts.ofEntities++;
    if (!usedRelations.has(relation)) {
      unseen.relations.add(relation);
      counts.ofRelations++;
    }
    if (leadsTo(graph, tail, head, plain)) counts.reversed++;
    if (graph.edgeIndex(tail, relation, head) >= 0) counts.symmetric++;
  }
  return {
    unseenEntities: unseen.entities.size,
    triplesOfUnseenEntities: counts.ofEntities,
    unseenRelations: unseen.relations.size,
    triplesOfUnseenRelations: counts.ofRelations,
    reversedInTrain: counts.reversed,
    symmetricInTrain: counts.symmetric,
  };
}

/** @param labels by entity */
export function countNames(
  labels: ReadonlyMap<number, string>,
  numEntities: number,
): Omit<LinkManifest['names'], 'unused'> {
  const bearers = new Map<string, number>();
  for (const label of labels.values()) bearers.set(label, (bearers.get(label) ?? 0) + 1);
  const shared = [...bearers.values()].filter((count) => count > 1).reduce((sum, count) => sum + count, 0);
  return { named: labels.size, unnamed: numEntities - labels.size, shared };
}

/** Whether a training triple of any relation leads from one entity to the other. Looks at the edges of the one with fewer. */
function leadsTo({ offsets, relations, tails }: Graph, from: number, to: number, plain: number): boolean {
  const forward = offsets[from + 1]! - offsets[from]! <= offsets[to + 1]! - offsets[to]!;
  const [at, end] = forward ? [from, to] : [to, from];
  for (let edge = offsets[at]!; edge < offsets[at + 1]!; edge++) {
    if (tails[edge] === end && relations[edge]! < plain === forward) return true;
  }
  return false;
}
