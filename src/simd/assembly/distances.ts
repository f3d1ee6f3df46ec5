/** Distances of one query from rows of a table. All arguments named as arrays are byte offsets of float32 or int32 values. */

/**
 * `out[i] = Σₖ |query[k] − rows[ids[i] · dim + k]|`, for `count` rows
 */
export function absoluteDistances(query: usize, rows: usize, ids: usize, count: i32, dim: i32, out: usize): void {
  for (let i = 0; i < count; i++) {
    const row = rows + <usize>load<i32>(ids + ((<usize>i) << 2)) * <usize>dim * 4;
    store<f32>(out + ((<usize>i) << 2), absoluteDistance(query, row, dim));
  }
}

function absoluteDistance(query: usize, row: usize, dim: i32): f32 {
  const bytes = (<usize>dim) << 2;
  const whole = bytes & ~31;
  let a = f32x4.splat(0);
  let b = f32x4.splat(0);
  let at: usize = 0;
  for (; at < whole; at += 32) {
    a = f32x4.add(a, f32x4.abs(f32x4.sub(v128.load(query + at), v128.load(row + at))));
    b = f32x4.add(b, f32x4.abs(f32x4.sub(v128.load(query + at, 16), v128.load(row + at, 16))));
  }
  a = f32x4.add(a, b);
  let sum = f32x4.extract_lane(a, 0) + f32x4.extract_lane(a, 1) + (f32x4.extract_lane(a, 2) + f32x4.extract_lane(a, 3));
  for (; at < bytes; at += 4) sum += abs<f32>(load<f32>(query + at) - load<f32>(row + at));
  return sum;
}
