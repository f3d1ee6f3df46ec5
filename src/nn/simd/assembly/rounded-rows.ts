// @ts-nocheck AssemblyScript: its compiler checks.
/**
 * Distances between vectors of 16-bit whole numbers, exact in integer arithmetic. Rows are `stride` bytes long, a multiple
 * of 16, zeros behind their values. `Sum` is the type of the lanes that sum up: i16 (unsigned) under L1, i32 under L2.
 */

/** Address of the next pair that `compare` writes. */
let next: usize = 0;

/** Adds eight values of a row: |query − row|, or query · row. */
function join<Sum>(sum: v128, query: v128, row: v128): v128 {
  if (sizeof<Sum>() == 2) return i16x8.add(sum, i16x8.abs(i16x8.sub(query, row)));
  return i32x4.add(sum, i32x4.dot_i16x8_s(query, row));
}

/** One number a vector: the sums of the lanes of four. */
function lanesOfFour<Sum>(a: v128, b: v128, c: v128, d: v128): v128 {
  if (sizeof<Sum>() == 2) {
    a = i32x4.extadd_pairwise_i16x8_u(a);
    b = i32x4.extadd_pairwise_i16x8_u(b);
    c = i32x4.extadd_pairwise_i16x8_u(c);
    d = i32x4.extadd_pairwise_i16x8_u(d);
  }
  const ab = i32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7));
  const cd = i32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7));
  return i32x4.add(v128.shuffle<i64>(ab, cd, 0, 2), v128.shuffle<i64>(ab, cd, 1, 3));
}

/** |row|² − 2 query · row: less than that of another row where the row is nearer. */
function fromSums<Sum>(sums: v128, squares: usize, row: i32): v128 {
  if (sizeof<Sum>() == 2) return sums;
  return i32x4.sub(v128.load32_splat(squares + ((<usize>row) << 2)), i32x4.shl(sums, 1));
}

/** Notes the queries to which the row is neither surely nearer nor surely farther. @returns −1 where it is nearer, else 0 */
function compare(distances: v128, low: v128, high: v128, query: i32, row: i32): v128 {
  const nearer = i32x4.lt_s(distances, low);
  const close = v128.andnot(i32x4.le_s(distances, high), nearer);
  if (v128.any_true(close)) {
    const lanes = i32x4.bitmask(close);
    for (let lane = 0; lane < 4; lane++) {
      if (lanes & (1 << lane)) {
        store<i32>(next, ((query + lane) << 16) | row);
        next += 4;
      }
    }
  }
  return nearer;
}

/** Two rows against four queries at a time: their eight sums, a query and both rows fill the registers. */
function countRows<Sum>(
  queries: usize,
  numQueries: i32,
  rows: usize,
  squares: usize,
  numRows: i32,
  stride: usize,
  lows: usize,
  highs: usize,
  nearer: usize,
  close: usize,
): i32 {
  next = close;
  for (let query = 0; query < numQueries; query += 4) {
    const q0 = queries + <usize>query * stride;
    const q1 = q0 + stride;
    const q2 = q1 + stride;
    const q3 = q2 + stride;
    const at = (<usize>query) << 2;
    const low = v128.load(lows + at);
    const high = v128.load(highs + at);
    let total = v128.load(nearer + at);
    let row1 = rows;
    for (let row = 0; row < numRows; row += 2) {
      const last = row + 1 == numRows;
      const row2 = last ? row1 : row1 + stride;
      let a0 = i32x4.splat(0);
      let a1 = i32x4.splat(0);
      let a2 = i32x4.splat(0);
      let a3 = i32x4.splat(0);
      let b0 = i32x4.splat(0);
      let b1 = i32x4.splat(0);
      let b2 = i32x4.splat(0);
      let b3 = i32x4.splat(0);
      for (let k: usize = 0; k < stride; k += 16) {
        const e = v128.load(row1 + k);
        const f = v128.load(row2 + k);
        let q = v128.load(q0 + k);
        a0 = join<Sum>(a0, q, e);
        b0 = join<Sum>(b0, q, f);
        q = v128.load(q1 + k);
        a1 = join<Sum>(a1, q, e);
        b1 = join<Sum>(b1, q, f);
        q = v128.load(q2 + k);
        a2 = join<Sum>(a2, q, e);
        b2 = join<Sum>(b2, q, f);
        q = v128.load(q3 + k);
        a3 = join<Sum>(a3, q, e);
        b3 = join<Sum>(b3, q, f);
      }
      let found = fromSums<Sum>(lanesOfFour<Sum>(a0, a1, a2, a3), squares, row);
      total = i32x4.sub(total, compare(found, low, high, query, row));
      if (last) break;
      found = fromSums<Sum>(lanesOfFour<Sum>(b0, b1, b2, b3), squares, row + 1);
      total = i32x4.sub(total, compare(found, low, high, query, row + 1));
      row1 = row2 + stride;
    }
    v128.store(nearer + at, total);
  }
  return <i32>((next - close) >> 2);
}

function compareRows<Sum>(
  query: usize,
  rows: usize,
  squares: usize,
  ids: usize,
  count: i32,
  stride: usize,
  low: i32,
  high: i32,
): void {
  for (let i = 0; i < count; i++) {
    const place = ids + ((<usize>i) << 2);
    const id = load<i32>(place);
    const row = rows + <usize>id * stride;
    let sums = i32x4.splat(0);
    for (let k: usize = 0; k < stride; k += 16) sums = join<Sum>(sums, v128.load(query + k), v128.load(row + k));
    const none = i32x4.splat(0);
    const found = i32x4.extract_lane(fromSums<Sum>(lanesOfFour<Sum>(sums, none, none, none), squares, id), 0);
    store<i32>(place, found < low ? -1 : found > high ? 1 : 0);
  }
}

/**
 * For each of some queries, counts the rows whose distance is below the query's `low`, and notes those from there to
 * its `high`. Values are whole numbers of 16 bits, the distance is exact: under L1 Σₖ |query[k] − row[k]|, under L2
 * |row|² − 2 query · row. Sums of every eighth value of a vector's L1 distance must stay below 2^16, those of L2 below 2^31.
 * @param queries int16 [numQueries, stride / 2]
 * @param numQueries a multiple of four; query numbers below 2^15
 * @param rows int16 [numRows, stride / 2]; row numbers below 2^16
 * @param squares int32 [numRows]: |row|²; unused under L1
 * @param stride bytes of a vector, a multiple of 16: zeros follow its values
 * @param lows int32 [numQueries]
 * @param highs int32 [numQueries]
 * @param nearer int32 [numQueries], added to
 * @param close int32 [what is returned, at most numQueries · numRows]: query · 2^16 + row
 * @returns how many are in `close`
 */
export function countNearer(
  norm: i32,
  queries: usize,
  numQueries: i32,
  rows: usize,
  squares: usize,
  numRows: i32,
  stride: i32,
  lows: usize,
  highs: usize,
  nearer: usize,
  close: usize,
): i32 {
  return norm == 1
    ? countRows<i16>(queries, numQueries, rows, squares, numRows, stride, lows, highs, nearer, close)
    : countRows<i32>(queries, numQueries, rows, squares, numRows, stride, lows, highs, nearer, close);
}

/**
 * Compares one query of these with some rows: each id in `ids` becomes −1 where the distance is below `low`, 1 where it
 * is over `high`, else 0.
 * @param ids int32 [count]
 */
export function compareListed(
  norm: i32,
  query: usize,
  rows: usize,
  squares: usize,
  ids: usize,
  count: i32,
  stride: i32,
  low: i32,
  high: i32,
): void {
  if (norm == 1) compareRows<i16>(query, rows, squares, ids, count, stride, low, high);
  else compareRows<i32>(query, rows, squares, ids, count, stride, low, high);
}
