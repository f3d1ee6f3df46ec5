/** Filtered link prediction: how high a table ranks the true tail and the true head of triples. */
import type { TripleColumns } from '../kg/graph.js';
import { hitsAtK, mrr, realisticRank } from '../metrics/ranks.js';
import type { EmbeddingTable, Norm } from './embedding-table.js';
import type { KnownAnswers } from './known-answers.js';

/** Fractions over both sides of every triple. */
export interface LinkMetrics {
  mrr: number;
  'hits@1': number;
  'hits@3': number;
  'hits@10': number;
  /** Queries: two a triple. */
  n: number;
}

/** Ranks both sides of each triple among all entities; see `linkRanks`. */
export function evaluateLinks(table: EmbeddingTable, triples: TripleColumns, known: KnownAnswers): LinkMetrics {
  return linkMetrics(linkRanks(table, triples, known));
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

/** One side of a triple: `given` ± relation is compared with every entity. */
interface LinkQuery {
  /** In the ranks. */
  place: number;
  answer: number;
  /** Other answers, and perhaps this one. */
  known: readonly number[];
  /** float64 [dim] */
  vector: Float64Array;
  /** Distance of the answer. */
  limit: number;
}

/** Entities compared with a block of queries before the next ones: their rows stay in the second-level cache. */
const entityBlock = 512;
/** A multiple of four. */
const queryBlock = 64;

/**
 * Realistic ranks of the true tail (even places) and the true head (odd places) of each triple among all entities that
 * are not known as answers. A vector with NaN ranks last.
 * @returns float64 [2 * number of triples]
 */
export function linkRanks(table: EmbeddingTable, triples: TripleColumns, known: KnownAnswers): Float64Array {
  const ranks = new Float64Array(triples.heads.length * 2);
  rankShare(table, triples, known, ranks, 0, 1);
  return ranks;
}

/**
 * One thread's share of `linkRanks`: every block of queries stands for itself.
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
  for (let first = share * queryBlock; first < ranks.length; first += shares * queryBlock) {
    const size = Math.min(queryBlock, ranks.length - first);
    const block = Array.from({ length: size }, (_, i) => linkQuery(table, triples, known, first + i));
    // A pass over a row ends for four queries together, so queries with near answers stand side by side.
    block.sort((a, b) => a.limit - b.limit);
    rankBlock(table, block, ranks);
  }
}

function linkQuery(table: EmbeddingTable, triples: TripleColumns, known: KnownAnswers, place: number): LinkQuery {
  const { entities, relations, dim, norm } = table;
  const triple = place >> 1;
  const [head, relation, tail] = [triples.heads[triple]!, triples.relations[triple]!, triples.tails[triple]!];
  const tailSide = place % 2 === 0;
  const [given, answer, sign] = tailSide ? [head, tail, 1] : [tail, head, -1];
  const vector = new Float64Array(dim);
  for (let k = 0; k < dim; k++) vector[k] = entities[given * dim + k]! + sign * relations[relation * dim + k]!;
  return {
    place,
    answer,
    known: tailSide ? known.tailsOf(head, relation) : known.headsOf(relation, tail),
    vector,
    limit: powerDistance(vector, entities, answer * dim, norm),
  };
}

function rankBlock({ entities, dim, norm, numEntities }: EmbeddingTable, block: LinkQuery[], ranks: Float64Array) {
  // Query q stands with its three neighbours, value by value: [q ÷ 4, dim, q mod 4].
  const queries = new Float64Array(queryBlock * dim);
  // Nothing is within a negative limit: places without a query never hold up the others.
  const limits = new Float64Array(queryBlock).fill(-1);
  const better = new Int32Array(queryBlock);
  const ties = new Int32Array(queryBlock);
  const sums = new Float64Array(4);
  block.forEach(({ vector, limit }, q) => {
    vector.forEach((value, k) => (queries[((q >> 2) * dim + k) * 4 + (q & 3)] = value));
    limits[q] = limit;
  });
  for (let from = 0; from < numEntities; from += entityBlock) {
    const to = Math.min(numEntities, from + entityBlock);
    for (let four = 0; four < block.length; four += 4) {
      for (let entity = from; entity < to; entity++) {
        if (!fourWithin(queries, four * dim, entities, entity * dim, dim, norm, limits, four, sums)) continue;
        for (let i = 0; i < 4; i++) {
          if (sums[i]! > limits[four + i]!) continue;
          if (sums[i]! === limits[four + i]!) ties[four + i]!++;
          else better[four + i]!++;
        }
      }
    }
  }
  block.forEach(({ place, answer, known, vector, limit }, q) => {
    // All entities were counted, the answer as a tie with itself.
    ties[q]!--;
    for (const other of known) {
      if (other === answer) continue;
      const distance = powerDistance(vector, entities, other * dim, norm);
      if (distance > limit) continue;
      if (distance === limit) ties[q]!--;
      else better[q]!--;
    }
    ranks[place] = Number.isNaN(limit) ? numEntities : realisticRank(better[q]!, ties[q]!);
  });
}

/** L1 distance or squared L2 distance, summed in the order of the functions below: ties are equal to the bit. */
function powerDistance(query: Float64Array, rows: Float32Array, row: number, norm: Norm): number {
  let sum = 0;
  for (let k = 0; k < query.length; k++) {
    const x = query[k]! - rows[row + k]!;
    sum += norm === 1 ? Math.abs(x) : x * x;
  }
  return sum;
}

/** Dimensions summed between two looks at the limits. */
const stride = 25;

/**
 * Sums the distances of four queries from one row, until it is over or all four exceed their limits.
 * @returns false, with `sums` unfinished, once all four exceed their limits
 */
function fourWithin(
  queries: Float64Array,
  query: number,
  rows: Float32Array,
  row: number,
  dim: number,
  norm: Norm,
  limits: Float64Array,
  limit: number,
  sums: Float64Array,
): boolean {
  sums[0] = sums[1] = sums[2] = sums[3] = 0;
  for (let k = 0; k < dim; k += stride) {
    const length = k + stride < dim ? stride : dim - k;
    if (norm === 1) addAbsolute(queries, query + 4 * k, rows, row + k, length, sums);
    else addSquared(queries, query + 4 * k, rows, row + k, length, sums);
    if (sums[0]! > limits[limit]! && sums[1]! > limits[limit + 1]!) {
      if (sums[2]! > limits[limit + 2]! && sums[3]! > limits[limit + 3]!) return false;
    }
  }
  return true;
}

/**
 * Adds |query − row| over `length` values to the sums of four queries. Reading a row once for four, few live variables
 * and `| 0` (no overflow checks) make it about twice as fast as one query at a time.
 */
function addAbsolute(
  queries: Float64Array,
  query: number,
  rows: Float32Array,
  row: number,
  length: number,
  sums: Float64Array,
): void {
  let a = sums[0]!;
  let b = sums[1]!;
  let c = sums[2]!;
  let d = sums[3]!;
  const end = (row + length) | 0;
  for (let q = query | 0, r = row | 0; r < end; r = (r + 1) | 0, q = (q + 4) | 0) {
    const value = rows[r]!;
    a += Math.abs(queries[q]! - value);
    b += Math.abs(queries[(q + 1) | 0]! - value);
    c += Math.abs(queries[(q + 2) | 0]! - value);
    d += Math.abs(queries[(q + 3) | 0]! - value);
  }
  sums[0] = a;
  sums[1] = b;
  sums[2] = c;
  sums[3] = d;
}

/** As `addAbsolute` with (query − row)². */
function addSquared(
  queries: Float64Array,
  query: number,
  rows: Float32Array,
  row: number,
  length: number,
  sums: Float64Array,
): void {
  let a = sums[0]!;
  let b = sums[1]!;
  let c = sums[2]!;
  let d = sums[3]!;
  const end = (row + length) | 0;
  for (let q = query | 0, r = row | 0; r < end; r = (r + 1) | 0, q = (q + 4) | 0) {
    const value = rows[r]!;
    const w = queries[q]! - value;
    const x = queries[(q + 1) | 0]! - value;
    const y = queries[(q + 2) | 0]! - value;
    const z = queries[(q + 3) | 0]! - value;
    a += w * w;
    b += x * x;
    c += y * y;
    d += z * z;
  }
  sums[0] = a;
  sums[1] = b;
  sums[2] = c;
  sums[3] = d;
}
