// @ts-nocheck AssemblyScript: its compiler checks.
/** Operations on rows of tables, and parts of layers other than products, float32. */

/** `y[i] = max(y[i], 0)`; up to 3 values behind `count` change too, as in the next one. */
export function reluAll(y: usize, count: i32): void {
  const end = y + ((<usize>count) << 2);
  const zero = f32x4.splat(0);
  for (; y < end; y += 16) v128.store(y, f32x4.max(v128.load(y), zero));
}

/** `g[i] = y[i] > 0 ? g[i] : 0`: the backward pass of `y = max(x, 0)`. */
export function reluGrad(g: usize, y: usize, count: i32): void {
  const end = y + ((<usize>count) << 2);
  const zero = f32x4.splat(0);
  for (; y < end; y += 16, g += 16) v128.store(g, v128.and(v128.load(g), f32x4.gt(v128.load(y), zero)));
}

function rowAt(table: usize, rows: usize, i: i32, bytes: usize): usize {
  return table + <usize>load<i32>(rows + ((<usize>i) << 2)) * bytes;
}

/** Adds one row to another. */
function addRow(to: usize, from: usize, bytes: usize): void {
  const end = from + bytes;
  for (; from + 16 <= end; from += 16, to += 16) v128.store(to, f32x4.add(v128.load(to), v128.load(from)));
  for (; from < end; from += 4, to += 4) store<f32>(to, load<f32>(to) + load<f32>(from));
}

/** `out[i · n + j] += table[index[i] · n + j]` for `m` rows. */
export function addRows(out: usize, table: usize, index: usize, m: i32, n: i32): void {
  const bytes = (<usize>n) << 2;
  for (let i = 0; i < m; i++, out += bytes) addRow(out, rowAt(table, index, i, bytes), bytes);
}

/** `table[index[i] · n + j] += g[i · n + j]` for `m` rows, in order. */
export function scatterRows(table: usize, g: usize, index: usize, m: i32, n: i32): void {
  const bytes = (<usize>n) << 2;
  for (let i = 0; i < m; i++, g += bytes) addRow(rowAt(table, index, i, bytes), g, bytes);
}

/** `out[i] += scale · (left[leftRows[i]] · right[rightRows[i]])`, in float32; rows of `n` values, on the left `leftStride` apart. */
export function addDots(
  out: usize,
  left: usize,
  leftStride: i32,
  leftRows: usize,
  right: usize,
  rightRows: usize,
  n: i32,
  count: i32,
  scale: f32,
): void {
  const bytes = (<usize>n) << 2;
  const whole = bytes & ~15;
  for (let i = 0; i < count; i++, out += 4) {
    const x = rowAt(left, leftRows, i, (<usize>leftStride) << 2);
    const y = rowAt(right, rightRows, i, bytes);
    let sums = f32x4.splat(0);
    let at: usize = 0;
    for (; at < whole; at += 16) sums = f32x4.add(sums, f32x4.mul(v128.load(x + at), v128.load(y + at)));
    let sum: f32 =
      f32x4.extract_lane(sums, 0) +
      f32x4.extract_lane(sums, 1) +
      (f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3));
    for (; at < bytes; at += 4) sum += load<f32>(x + at) * load<f32>(y + at);
    store<f32>(out, load<f32>(out) + scale * sum);
  }
}

/** `out[outRows[i]] += scale · by[i] · table[tableRows[i]]`, in order; rows of `n` values, `outStride` and `tableStride` apart. */
export function addScaledRows(
  out: usize,
  outStride: i32,
  outRows: usize,
  by: usize,
  scale: f32,
  table: usize,
  tableStride: i32,
  tableRows: usize,
  n: i32,
  count: i32,
): void {
  const bytes = (<usize>n) << 2;
  const whole = bytes & ~15;
  for (let i = 0; i < count; i++) {
    const to = rowAt(out, outRows, i, (<usize>outStride) << 2);
    const from = rowAt(table, tableRows, i, (<usize>tableStride) << 2);
    const factor = scale * load<f32>(by + ((<usize>i) << 2));
    const factors = f32x4.splat(factor);
    let at: usize = 0;
    for (; at < whole; at += 16) {
      v128.store(to + at, f32x4.add(v128.load(to + at), f32x4.mul(factors, v128.load(from + at))));
    }
    for (; at < bytes; at += 4) store<f32>(to + at, load<f32>(to + at) + factor * load<f32>(from + at));
  }
}
