/** One side of a triple, asked of a table; and the arithmetic in which distances are equal or not. */
import type { TripleColumns } from '../kg/graph.js';
import { realisticRank } from '../metrics/ranks.js';
import type { EmbeddingTable } from './embedding-table.js';
import type { KnownAnswers } from './known-answers.js';

/** `given` + `sign` · relation is compared with every entity. */
export interface LinkQuery {
  /** In the ranks. */
  place: number;
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
  place: number,
): LinkQuery {
  const triple = place >> 1;
  const [head, relation, tail] = [triples.heads[triple]!, triples.relations[triple]!, triples.tails[triple]!];
  const query: LinkQuery =
    place % 2 === 0
      ? { place, given: head, relation, sign: 1, answer: tail, known: known.tailsOf(head, relation), limit: 0 }
      : { place, given: tail, relation, sign: -1, answer: head, known: known.headsOf(relation, tail), limit: 0 };
  query.limit = powerDistance(table, query, query.answer);
  return query;
}

/**
 * L1 distance or squared L2 distance, in float64, summed in the order of the dimensions. Ranks are those of these numbers:
 * two entities tie where they are equal to the bit.
 */
export function powerDistance(
  { entities, relations, dim, norm }: EmbeddingTable,
  { given, relation, sign }: LinkQuery,
  entity: number,
): number {
  const [from, by, to] = [given * dim, relation * dim, entity * dim];
  let sum = 0;
  if (norm === 1) {
    for (let k = 0; k < dim; k++) {
      sum += Math.abs(entities[from + k]! + sign * relations[by + k]! - entities[to + k]!);
    }
  } else {
    for (let k = 0; k < dim; k++) {
      const x = entities[from + k]! + sign * relations[by + k]! - entities[to + k]!;
      sum += x * x;
    }
  }
  return sum;
}

/** The realistic rank of the answer, entity by entity. Whatever is not farther than the answer, NaN too, is before it. */
export function plainRank(table: EmbeddingTable, query: LinkQuery): number {
  const { answer, known, limit } = query;
  if (Number.isNaN(limit)) return table.numEntities;
  let better = 0;
  let ties = 0;
  for (let entity = 0, at = 0; entity < table.numEntities; entity++) {
    if (entity === known[at]) {
      at++;
      continue;
    }
    if (entity === answer) continue;
    const distance = powerDistance(table, query, entity);
    if (distance > limit) continue;
    if (distance === limit) ties++;
    else better++;
  }
  return realisticRank(better, ties);
}
