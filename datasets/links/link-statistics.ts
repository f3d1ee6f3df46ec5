/** Statistics of a link data set: sizes, hubs, answers per query, relation kinds. */
import type { TripleColumns } from '../../src/kg/graph.js';
import { type Spread, spreadOf } from '../../src/metrics/ranks.js';
import type { LinkDataset, LinkManifest } from './link-dataset.js';

type RelationKind = '1-1' | '1-N' | 'N-1' | 'N-N';

/** Statistics of one relation, inverses not separate. */
export interface RelationStatistics {
  relation: string;
  /** Triples by split. */
  train: number;
  valid: number;
  test: number;
  /** Mean over its heads in train; 0 if train lacks it. */
  tailsPerHead: number;
  headsPerTail: number;
  /** "Many" is a mean of at least 1.5; null if train lacks it. @source Bordes et al. 2013, section 4.3 */
  kind: RelationKind | null;
}

/** Statistics of a link data set. */
export interface LinkStatistics extends Pick<LinkManifest, 'splits' | 'overlaps' | 'graph' | 'names'> {
  dataset: string;
  drawn: LinkManifest['drawn'] | null;
  /** Side of an inductive split, or null. */
  apart: LinkManifest['apart'] | null;
  extracted: LinkManifest['extracted'] | null;
  /** Out-degree, inverses included: choices of a walk. */
  degree: Spread;
  /** Known answers per query of a split, in all splits: the gold one and those removed by filtering. */
  answers: Record<'valid' | 'test', { tail: Spread; head: Spread }>;
  /** Most training triples first; ties by name. */
  relations: RelationStatistics[];
}

const many = 1.5;

/** Uses the loaded data; a second for some hundred thousand triples. */
export function linkStatistics(dataset: LinkDataset): LinkStatistics {
  const { manifest, graph } = dataset;
  const { name, drawn = null, apart = null, extracted = null, splits, overlaps, names } = manifest;
  const degrees = Array.from({ length: graph.numEntities }, (_, entity) => graph.degree(entity));
  return {
    ...{ dataset: name, drawn, apart, extracted, splits, overlaps, graph: manifest.graph, names },
    degree: spreadOf(degrees),
    answers: { valid: answersOf(dataset, dataset.valid), test: answersOf(dataset, dataset.test) },
    relations: relationStatistics(dataset),
  };
}

function answersOf({ known }: LinkDataset, { heads, relations, tails }: TripleColumns): { tail: Spread; head: Spread } {
  const counts = (count: (i: number) => number) => spreadOf(Array.from(heads, (_, i) => count(i)));
  return {
    tail: counts((i) => known.tailsOf(heads[i]!, relations[i]!).length),
    head: counts((i) => known.headsOf(relations[i]!, tails[i]!).length),
  };
}

function relationStatistics({ graph, train, valid, test }: LinkDataset): RelationStatistics[] {
  const plain = graph.numRelations / 2;
  const [inTrain, inValid, inTest] = [train, valid, test].map(({ relations }) => {
    const counts = new Int32Array(plain);
    for (const relation of relations) counts[relation]!++;
    return counts;
  }) as [Int32Array, Int32Array, Int32Array];
  // Entities with an edge of each relation: heads of a plain one, tails of an inverse.
  const bearers = new Int32Array(graph.numRelations);
  for (let entity = 0; entity < graph.numEntities; entity++) {
    let before = -1;
    for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
      const relation = graph.relations[edge]!;
      if (relation !== before) bearers[relation]!++;
      before = relation;
    }
  }
  const rows = Array.from({ length: plain }, (_, relation): RelationStatistics => {
    const triples = inTrain[relation]!;
    const tailsPerHead = triples / Math.max(1, bearers[relation]!);
    const headsPerTail = triples / Math.max(1, bearers[relation + plain]!);
    return {
      relation: graph.relationNames[relation]!,
      ...{ train: triples, valid: inValid[relation]!, test: inTest[relation]! },
      ...{ tailsPerHead, headsPerTail, kind: triples === 0 ? null : kindOf(tailsPerHead, headsPerTail) },
    };
  });
  return rows.sort((a, b) => b.train - a.train || (a.relation < b.relation ? -1 : 1));
}

/** In the field's notation: heads per tail, then tails per head. */
function kindOf(tailsPerHead: number, headsPerTail: number): RelationKind {
  return `${headsPerTail >= many ? 'N' : '1'}-${tailsPerHead >= many ? 'N' : '1'}`;
}
