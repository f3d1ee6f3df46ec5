/**
 * Filtered link prediction: ranks of the true tail and the true head of triples by a table of TransE. Kernels settle nearly every entity
 * by distances of rounded vectors; the few that are too close to the answer are compared exactly. The ranks are those of `plainRank`.
 */
import type { TripleColumns } from '../kg/graph.js';
import { hitsAtK, mrr, realisticRank } from '../metrics/ranks.js';
import { Arena } from '../nn/simd/arena.js';
import { type Kernels, kernelsRun, openKernels } from '../nn/simd/kernels.js';
import type { KnownAnswers } from './known-answers.js';
import { type EmbeddingTable, type LinkQuery, linkQuery, type Norm, plainRank, powerDistance } from './transe.js';

/** Fractions over both sides of every triple. */
export interface LinkMetrics {
  mrr: number;
  'hits@1': number;
  'hits@3': number;
  'hits@10': number;
  /** Queries: two a triple. */
  n: number;
}

/** Figures of some ranks. */
export const linkMetrics = (ranks: Float64Array): LinkMetrics => ({
  mrr: mrr(ranks),
  'hits@1': hitsAtK(ranks, 1),
  'hits@3': hitsAtK(ranks, 3),
  'hits@10': hitsAtK(ranks, 10),
  n: ranks.length,
});

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
const shareBlock = 64;

/** One thread's share of `linkRanks`, filled in `ranks` at its places. A call rounds the whole table: give it a thousand queries or more. */
export function rankShare(
  table: EmbeddingTable,
  triples: TripleColumns,
  known: KnownAnswers,
  ranks: Float64Array,
  share: number,
  shares: number,
): void {
  const indices = Int32Array.from(ranks.keys()).filter((index) => Math.floor(index / shareBlock) % shares === share);
  const rounding = kernelsRun() ? roundingOf(table) : undefined;
  for (let first = 0; first < indices.length; first += mostQueries) {
    const queries = Array.from(indices.subarray(first, first + mostQueries), (index) =>
      linkQuery(table, triples, known, index),
    );
    if (rounding) rankRounded(table, rounding, queries, ranks);
    else for (const query of queries) ranks[query.index] = plainRank(table, query);
  }
}

/** The figures in a line, for people. */
export function shownMetrics({ n, ...metrics }: LinkMetrics): string {
  const shares = (['mrr', 'hits@1', 'hits@3', 'hits@10'] as const).map((key) => `${key} ${metrics[key].toFixed(3)}`);
  return `${shares.join('  ')}  (${n} queries)`;
}

/** Queries that `rankRounded` takes at most: each costs the memory of a rounded vector. */
const mostQueries = 4096;
/** Queries per call of the kernel: they stay in the first-level cache. A multiple of four. */
const queryBlock = 64;
/** Entities that are rounded at a time: their rows stay in the second-level cache. */
const rowBlock = 512;

interface Room {
  /** Zeros follow so many values. */
  dim: number;
  kernels: Kernels;
  queries: Int16Array;
  rows: Int16Array;
  squares: Int32Array;
  lows: Int32Array;
  highs: Int32Array;
  nearer: Int32Array;
  close: Int32Array;
  ids: Int32Array;
}

let room: Room | undefined;

function roomFor({ dim, width }: Rounding): Room {
  if (room?.dim === dim) return room;
  const arena = new Arena();
  room = {
    dim,
    kernels: openKernels(arena.memory),
    queries: arena.int16(mostQueries * width),
    rows: arena.int16(rowBlock * width),
    squares: arena.int32(rowBlock),
    lows: arena.int32(mostQueries),
    highs: arena.int32(mostQueries),
    nearer: arena.int32(mostQueries),
    close: arena.int32(queryBlock * rowBlock),
    ids: arena.int32(rowBlock),
  };
  return room;
}

/**
 * Realistic ranks of the answers.
 * @param queries at most `mostQueries`
 * @param ranks filled at the places of the queries
 */
function rankRounded(table: EmbeddingTable, rounding: Rounding, queries: LinkQuery[], ranks: Float64Array): void {
  const { norm, numEntities } = table;
  const { kernels, nearer, close, ids, lows, highs, ...room } = roomFor(rounding);
  const stride = rounding.width * 2;
  const better = new Int32Array(queries.length);
  const ties = new Int32Array(queries.length);
  // What is known lies in ascending order: for each query, the first that is not in blocks before.
  const nextKnown = new Int32Array(queries.length);
  const bounds = roundQueries(table, rounding, queries, room.queries);
  nearer.fill(0);

  /** Adds an entity that is too close for rounded vectors to the counts of a query, or takes it out. */
  const settle = (q: number, entity: number, change: 1 | -1) => {
    const query = queries[q]!;
    if (entity === query.answer) return;
    const distance = powerDistance(table, query.given, query.relation, query.sign, entity);
    if (distance > query.limit) return;
    if (distance === query.limit) ties[q]! += change;
    else better[q]! += change;
  };

  for (let from = 0; from < numEntities; from += rowBlock) {
    const numRows = Math.min(rowBlock, numEntities - from);
    const lost = roundRows(table, rounding, from, numRows, room);
    bounds.within(lost, lows, highs);
    for (let first = 0; first < queries.length; first += queryBlock) {
      const count = Math.min(queryBlock, Math.ceil((queries.length - first) / 4) * 4);
      const unsettled = kernels.countNearer(
        norm,
        room.queries.byteOffset + first * stride,
        count,
        room.rows.byteOffset,
        room.squares.byteOffset,
        numRows,
        stride,
        lows.byteOffset + first * 4,
        highs.byteOffset + first * 4,
        nearer.byteOffset + first * 4,
        close.byteOffset,
      );
      for (let i = 0; i < unsettled; i++) settle(first + (close[i]! >>> 16), from + (close[i]! & 0xffff), 1);
    }
    queries.forEach(({ known, answer }, q) => {
      const first = nextKnown[q]!;
      let next = first;
      let count = 0;
      for (; next < known.length && known[next]! < from + numRows; next++) {
        if (known[next] !== answer) ids[count++] = known[next]! - from;
      }
      if (next === first) return;
      nextKnown[q] = next;
      kernels.compareListed(
        norm,
        room.queries.byteOffset + q * stride,
        room.rows.byteOffset,
        room.squares.byteOffset,
        ids.byteOffset,
        count,
        stride,
        lows[q]!,
        highs[q]!,
      );
      for (let i = 0, at = first; i < count; i++, at++) {
        if (known[at] === answer) at++;
        if (ids[i] === -1) better[q]!--;
        else if (ids[i] === 0) settle(q, known[at]!, -1);
      }
    });
  }
  queries.forEach(({ index }, q) => (ranks[index] = realisticRank(nearer[q]! + better[q]!, ties[q]!)));
}

/** Rounds entities `from` to `from + count - 1`. @returns what a row lost at most */
function roundRows(
  { entities, dim, norm }: EmbeddingTable,
  rounding: Rounding,
  from: number,
  count: number,
  { rows, squares }: Pick<Room, 'rows' | 'squares'>,
): number {
  const { width } = rounding;
  let most = 0;
  for (let row = 0; row < count; row++) {
    const lost = roundVector(rounding, entities, (from + row) * dim, rows, row * width);
    if (lost > most) most = lost;
    if (norm === 2) squares[row] = square(rows, row * width, dim);
  }
  return most;
}

/** Rounds the vectors that entities are compared with, and prepares what decides about a rounded distance. */
function roundQueries(table: EmbeddingTable, rounding: Rounding, queries: LinkQuery[], out: Int16Array) {
  const { entities, relations, dim, norm } = table;
  const { width, scale } = rounding;
  const vector = new Float64Array(dim);
  const lost = new Float64Array(queries.length);
  const limits = new Float64Array(queries.length);
  const squares = new Float64Array(queries.length);
  queries.forEach(({ given, relation, sign, limit }, q) => {
    for (let k = 0; k < dim; k++) vector[k] = entities[given * dim + k]! + sign * relations[relation * dim + k]!;
    lost[q] = roundVector(rounding, vector, 0, out, q * width);
    limits[q] = scale * (norm === 1 ? limit : Math.sqrt(limit));
    if (norm === 2) squares[q] = square(out, q * width, dim);
  });
  return {
    /**
     * The distances, as the kernels count them, that are surely below or surely over that of each answer. By the triangle
     * inequality rounding moves a distance by at most what the query and the row lost; float64 by far less than a half.
     */
    within(rowLost: number, lows: Int32Array, highs: Int32Array) {
      for (let q = 0; q < queries.length; q++) {
        const limit = limits[q]!;
        const reach = lost[q]! + rowLost + 0.5 + 1e-9 * limit;
        if (norm === 1) {
          lows[q] = Math.ceil(limit - reach);
          highs[q] = Math.floor(limit + reach);
        } else {
          lows[q] = Math.ceil(Math.max(0, limit - reach) ** 2) - squares[q]!;
          highs[q] = Math.min(Math.floor((limit + reach) ** 2), 2 ** 31 - 1) - squares[q]!;
        }
      }
      // The kernels take four at a time: no distance is within the bounds of a query that is not there.
      lows.fill(-(2 ** 31), queries.length, queries.length + 3);
      highs.fill(-(2 ** 31), queries.length, queries.length + 3);
    },
  };
}

function square(values: Int16Array, from: number, count: number): number {
  let sum = 0;
  for (let k = from; k < from + count; k++) sum += values[k]! * values[k]!;
  return sum;
}

/** Rounding of a table: its vectors, and a sum or difference of an entity and a relation, times `scale`. */
interface Rounding {
  norm: Norm;
  dim: number;
  scale: number;
  /** Values of a rounded vector: `dim` and zeros, a multiple of `lanes`. */
  width: number;
}

/** Values that the kernels take at a time. */
const lanes = 8;

/**
 * The finest rounding under which nothing overflows: differences of two vectors in 16 bits, and their L1 distance in eight
 * unsigned sums of 16 bits each, or their squared L2 distance in 32 bits.
 * @returns undefined where a number of the table is not finite
 */
function roundingOf({ entities, relations, dim, norm }: EmbeddingTable): Rounding | undefined {
  const entity = sizes(entities, dim, norm);
  const relation = sizes(relations, dim, norm);
  const largest = 2 * entity.value + relation.value;
  const sum = 2 * entity.sum + relation.sum;
  // Two vectors are each rounded by up to a half a value.
  const width = Math.ceil(dim / lanes) * lanes;
  const room = norm === 1 ? 65535 - width / lanes : 46340 - Math.sqrt(dim);
  const scale = Math.min(32766 / largest, room / sum);
  if (!Number.isFinite(largest + sum) || scale <= 0) return undefined;
  return { norm, dim, width, scale: Number.isFinite(scale) ? scale : 1 };
}

/** The largest absolute value of all rows, and the largest sum: of the values of a lane, or the L2 norm. */
function sizes(rows: Float32Array, dim: number, norm: Norm): { value: number; sum: number } {
  let value = 0;
  let sum = 0;
  const sums = new Float64Array(lanes);
  for (let row = 0; row < rows.length; row += dim) {
    sums.fill(0);
    for (let k = 0; k < dim; k++) {
      const x = Math.abs(rows[row + k]!);
      value = Math.max(value, x);
      if (norm === 1) sums[k % lanes]! += x;
      else sums[0]! += x * x;
    }
    for (const one of sums) sum = Math.max(sum, one);
  }
  return { value, sum: norm === 1 ? sum : Math.sqrt(sum) };
}

/** Rounds a vector from `from` on to `out` from `to` on. @returns the distance of the rounded vector from the vector times the scale */
function roundVector(
  { norm, dim, scale }: Rounding,
  vector: Float32Array | Float64Array,
  from: number,
  out: Int16Array,
  to: number,
): number {
  let lost = 0;
  for (let k = 0; k < dim; k++) {
    const x = vector[from + k]! * scale;
    const whole = Math.round(x);
    out[to + k] = whole;
    lost += norm === 1 ? Math.abs(x - whole) : (x - whole) * (x - whole);
  }
  return norm === 1 ? lost : Math.sqrt(lost);
}
