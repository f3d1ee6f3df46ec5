/** What a data set of links looks like: sizes, hubs, how many answers a query has, and of what kind its relations are. */
import type { TripleColumns } from '../../src/kg/graph.js';
import { type Spread, spreadOf } from '../../src/metrics/ranks.js';
import type { LinkDataset, LinkManifest } from './link-dataset.js';

/** Whether heads have one tail or many, and tails one head or many. */
type RelationKind = '1-1' | '1-N' | 'N-1' | 'N-N';

/** One relation; inverses are not counted apart. */
export interface RelationStatistics {
  relation: string;
  /** Triples by split. */
  train: number;
  valid: number;
  test: number;
  /** Mean over the heads that it has in train; 0 where train lacks it. */
  tailsPerHead: number;
  headsPerTail: number;
  /** "Many" is a mean of 1.5 or more; null where train lacks it. @source Bordes et al. 2013, section 4.3 */
  kind: RelationKind | null;
}

/** Figures of a data set of links. */
export interface LinkStatistics extends Pick<LinkManifest, 'splits' | 'overlaps' | 'graph' | 'names'> {
  dataset: string;
  drawn: LinkManifest['drawn'] | null;
  /** Which side of entities drawn apart; null where they were not. */
  apart: LinkManifest['apart'] | null;
  extracted: LinkManifest['extracted'] | null;
  /** Out-edges of an entity, inverses counted: what a walk chooses from. */
  degree: Spread;
  /** Known answers of the queries of a split, in all splits: the right one and those that filtered ranks leave out. */
  answers: Record<'valid' | 'test', { tail: Spread; head: Spread }>;
  /** Most training triples first; equal ones by name. */
  relations: RelationStatistics[];
}

/** The kind of relation from which on a mean is "many". */
const many = 1.5;

/** Works on what is loaded; a second for some hundred thousand triples. */
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
  // Entities that have an edge of each relation: of a plain one its heads, of an inverse its tails.
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

/** As the field writes it: how many heads a tail has, then how many tails a head has. */
function kindOf(tailsPerHead: number, headsPerTail: number): RelationKind {
  return `${headsPerTail >= many ? 'N' : '1'}-${tailsPerHead >= many ? 'N' : '1'}`;
}
