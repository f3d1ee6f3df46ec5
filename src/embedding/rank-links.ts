/** Filtered link prediction: how high a table ranks the true tail and the true head of triples. */
import type { TripleColumns } from '../kg/graph.js';
import { hitsAtK, mrr } from '../metrics/ranks.js';
import { kernelsRun } from '../simd/kernels.js';
import { type EmbeddingTable, linkQuery, plainRank } from './transe.js';
import type { KnownAnswers } from './known-answers.js';
import { mostQueries, rankRounded, roundingOf } from './rounded-ranks.js';

/** Fractions over both sides of every triple. */
export interface LinkMetrics {
  mrr: number;
  'hits@1': number;
  'hits@3': number;
  'hits@10': number;
  /** Queries: two a triple. */
  n: number;
}

/** The figures of some ranks. */
export function linkMetrics(ranks: Float64Array): LinkMetrics {
  return {
    mrr: mrr(ranks),
    'hits@1': hitsAtK(ranks, 1),
    'hits@3': hitsAtK(ranks, 3),
    'hits@10': hitsAtK(ranks, 10),
    n: ranks.length,
  };
}

/**
 * Realistic ranks of the true tail (even places) and the true head (odd places) of each triple among all entities that
 * are not known as answers; of distances in float64, equal ones tie. A vector with NaN ranks last.
 * @returns float64 [2 * number of triples]
 */
export function linkRanks(table: EmbeddingTable, triples: TripleColumns, known: KnownAnswers): Float64Array {
  const ranks = new Float64Array(triples.heads.length * 2);
  rankShare(table, triples, known, ranks, 0, 1);
  return ranks;
}

/** Queries that lie side by side in a share. */
const blockSize = 64;

/**
 * One thread's share of `linkRanks`. A call rounds the whole table: give it a thousand queries or more where there are.
 * @param ranks float64 [2 * number of triples], filled at the places of the share
 * @param share from 0 to `shares - 1`
 */
export function rankShare(
  table: EmbeddingTable,
  triples: TripleColumns,
  known: KnownAnswers,
  ranks: Float64Array,
  share: number,
  shares: number,
): void {
  const places = Int32Array.from(ranks.keys()).filter((place) => Math.floor(place / blockSize) % shares === share);
  const rounding = kernelsRun() ? roundingOf(table) : undefined;
  for (let first = 0; first < places.length; first += mostQueries) {
    const queries = Array.from(places.subarray(first, first + mostQueries), (place) =>
      linkQuery(table, triples, known, place),
    );
    if (rounding) rankRounded(table, rounding, queries, ranks);
    else for (const query of queries) ranks[query.place] = plainRank(table, query);
  }
}

/** The figures in a line, for people. */
export function shownMetrics({ n, ...metrics }: LinkMetrics): string {
  const shares = (['mrr', 'hits@1', 'hits@3', 'hits@10'] as const).map((key) => `${key} ${metrics[key].toFixed(3)}`);
  return `${shares.join('  ')}  (${n} queries)`;
}
