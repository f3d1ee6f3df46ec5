/** TransE: vectors of entities and relations, distances of triples, one side of a triple asked for. Training is elsewhere. */
import type { TripleColumns } from '../kg/graph.js';
import { realisticRank } from '../metrics/ranks.js';
import type { KnownAnswers } from './known-answers.js';

/** 1: sum of absolute differences; 2: Euclidean. */
export type Norm = 1 | 2;

/** A trained table, without rows for Equal (stay) or Pad: a padded row would drag every entity towards one point. */
export interface EmbeddingTable {
  /** Meaning of the vectors: in `transe` a triple holds where head + relation is near tail. */
  model: 'transe';
  /** The distance it was trained for. */
  norm: Norm;
  dim: number;
  numEntities: number;
  numRelations: number;
  /** float32 [numEntities, dim], row-major. */
  entities: Float32Array;
  /** float32 [numRelations, dim], row-major. */
  relations: Float32Array;
}

/** L1 or squared L2 distance of `given` + `sign` · relation, in float64, summed in the order of the dimensions; equal to the bit is a tie. */
export function powerDistance(
  { entities, relations, dim, norm }: EmbeddingTable,
  given: number,
  relation: number,
  sign: 1 | -1,
  entity: number,
): number {
  const [from, by, to] = [given * dim, relation * dim, entity * dim];
  let sum = 0;
  for (let k = 0; k < dim; k++) {
    const x = entities[from + k]! + sign * relations[by + k]! - entities[to + k]!;
    sum += norm === 1 ? Math.abs(x) : x * x;
  }
  return sum;
}

/** Score of a triple: the negative distance of head + relation from tail, so 0 is perfect. */
export function scoreTriple(table: EmbeddingTable, head: number, relation: number, tail: number): number {
  const power = powerDistance(table, head, relation, 1, tail);
  return -(table.norm === 1 ? power : Math.sqrt(power));
}

/** The mean L2 norm of the entity vectors. */
export function meanEntityNorm({ entities, numEntities, dim }: EmbeddingTable): number {
  let norms = 0;
  for (let begin = 0; begin < entities.length; begin += dim) {
    let square = 0;
    for (let k = begin; k < begin + dim; k++) square += entities[k]! * entities[k]!;
    norms += Math.sqrt(square);
  }
  return norms / Math.max(1, numEntities);
}

/** The table scaled by one factor, so that entity vectors have a mean L2 norm of 1 and every ranking stays. New; with the factor. */
export function normalisedTable(table: EmbeddingTable): { table: EmbeddingTable; scale: number } {
  const scale = 1 / Math.max(meanEntityNorm(table), 1e-12);
  const times = (values: Float32Array) => values.map((value) => value * scale);
  return { table: { ...table, entities: times(table.entities), relations: times(table.relations) }, scale };
}

/** `given` + `sign` · relation is compared with every entity. */
export interface LinkQuery {
  /** In the ranks. */
  index: number;
  given: number;
  relation: number;
  /** 1 asks for the tail, −1 for the head. */
  sign: 1 | -1;
  answer: number;
  /** Other answers, and perhaps this one; ascending. */
  known: Int32Array;
  /** Distance of the answer. */
  limit: number;
}

/** Even places ask for the tail of a triple, odd ones for its head. */
export function linkQuery(
  table: EmbeddingTable,
  triples: TripleColumns,
  known: KnownAnswers,
  index: number,
): LinkQuery {
  const triple = index >> 1;
  const [head, relation, tail] = [triples.heads[triple]!, triples.relations[triple]!, triples.tails[triple]!];
  const query: LinkQuery =
    index % 2 === 0
      ? { index, given: head, relation, sign: 1, answer: tail, known: known.tailsOf(head, relation), limit: 0 }
      : { index, given: tail, relation, sign: -1, answer: head, known: known.headsOf(relation, tail), limit: 0 };
  query.limit = powerDistance(table, query.given, relation, query.sign, query.answer);
  return query;
}

/** The realistic rank of the answer, entity by entity. Entities that are not farther than the answer, NaN too, are before it. */
export function plainRank(table: EmbeddingTable, { given, relation, sign, answer, known, limit }: LinkQuery): number {
  if (Number.isNaN(limit)) return table.numEntities;
  let better = 0;
  let ties = 0;
  for (let entity = 0, at = 0; entity < table.numEntities; entity++) {
    if (entity === known[at]) {
      at++;
      continue;
    }
    if (entity === answer) continue;
    const distance = powerDistance(table, given, relation, sign, entity);
    if (distance > limit) continue;
    if (distance === limit) ties++;
    else better++;
  }
  return realisticRank(better, ties);
}
