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

/** `out[i] += scale · (left[leftRows[i]] · right[rightRows[i]])`, in float32; rows of `n` values. */
export function addDots(
  out: usize,
  left: usize,
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
    const x = rowAt(left, leftRows, i, bytes);
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

/** `out[outRows[i]] += scale · by[i] · table[tableRows[i]]`, in order; rows of `n` values. */
export function addScaledRows(
  out: usize,
  outRows: usize,
  by: usize,
  scale: f32,
  table: usize,
  tableRows: usize,
  n: i32,
  count: i32,
): void {
  const bytes = (<usize>n) << 2;
  const whole = bytes & ~15;
  for (let i = 0; i < count; i++) {
    const to = rowAt(out, outRows, i, bytes);
    const from = rowAt(table, tableRows, i, bytes);
    const factor = scale * load<f32>(by + ((<usize>i) << 2));
    const factors = f32x4.splat(factor);
    let at: usize = 0;
    for (; at < whole; at += 16) {
      v128.store(to + at, f32x4.add(v128.load(to + at), f32x4.mul(factors, v128.load(from + at))));
    }
    for (; at < bytes; at += 4) store<f32>(to + at, load<f32>(to + at) + factor * load<f32>(from + at));
  }
}

/** `out[j · m + i] = a[i · n + j]` for `m` rows. */
export function transpose(out: usize, a: usize, m: i32, n: i32): void {
  const row = (<usize>n) << 2;
  const line = (<usize>m) << 2;
  let i = 0;
  for (; i + 4 <= m; i += 4) {
    const from = a + <usize>i * row;
    const to = out + ((<usize>i) << 2);
    let j = 0;
    for (; j + 4 <= n; j += 4) {
      const at = from + ((<usize>j) << 2);
      const r0 = v128.load(at);
      const r1 = v128.load(at + row);
      const r2 = v128.load(at + 2 * row);
      const r3 = v128.load(at + 3 * row);
      const low01 = v128.shuffle<i32>(r0, r1, 0, 4, 1, 5);
      const high01 = v128.shuffle<i32>(r0, r1, 2, 6, 3, 7);
      const low23 = v128.shuffle<i32>(r2, r3, 0, 4, 1, 5);
      const high23 = v128.shuffle<i32>(r2, r3, 2, 6, 3, 7);
      const put = to + <usize>j * line;
      v128.store(put, v128.shuffle<i64>(low01, low23, 0, 2));
      v128.store(put + line, v128.shuffle<i64>(low01, low23, 1, 3));
      v128.store(put + 2 * line, v128.shuffle<i64>(high01, high23, 0, 2));
      v128.store(put + 3 * line, v128.shuffle<i64>(high01, high23, 1, 3));
    }
    for (; j < n; j++) {
      for (let k: usize = 0; k < 4; k++) {
        store<f32>(to + <usize>j * line + (k << 2), load<f32>(from + k * row + ((<usize>j) << 2)));
      }
    }
  }
  for (; i < m; i++) {
    for (let j = 0; j < n; j++) {
      store<f32>(out + <usize>j * line + ((<usize>i) << 2), load<f32>(a + <usize>i * row + ((<usize>j) << 2)));
    }
  }
}
