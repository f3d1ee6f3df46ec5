// @ts-nocheck AssemblyScript: its compiler checks.
/**
 * Dot products of paired rows and their gradient, in float64 lanes and in order. Arguments named as arrays are byte offsets of the first value that takes part; strides count values.
 */

/**
 * `out[i] += left[leftRows[i]] · right[rightRows[i]]`, in float64 and in order.
 * @param left float32, at the first value that takes part @param leftStride values from row to row
 * @param leftRows int32 [count]
 */
export function addRowDots(
  out: usize,
  left: usize,
  leftStride: i32,
  right: usize,
  rightStride: i32,
  width: i32,
  leftRows: usize,
  rightRows: usize,
  count: i32,
): void {
  for (let i = 0; i < count;) {
    const x = rowAt(left, leftStride, leftRows, i);
    const a = rowAt(right, rightStride, rightRows, i);
    if (!fourFrom(leftRows, i, count)) {
      let sum: f64 = 0;
      for (let j = 0; j < width; j++) sum += <f64>valueAt(x, j) * <f64>valueAt(a, j);
      addTo(out, i, <f32>sum);
      i++;
      continue;
    }
    const b = rowAt(right, rightStride, rightRows, i + 1);
    const c = rowAt(right, rightStride, rightRows, i + 2);
    const d = rowAt(right, rightStride, rightRows, i + 3);
    let ab = f64x2.splat(0);
    let cd = f64x2.splat(0);
    const bytes = (<usize>width) << 2;
    const whole = bytes & ~15;
    let at: usize = 0;
    for (; at < whole; at += 16) {
      const va = v128.load(a + at);
      const vb = v128.load(b + at);
      const vc = v128.load(c + at);
      const vd = v128.load(d + at);
      const x0 = f64x2.promote_low_f32x4(v128.load32_splat(x + at));
      ab = f64x2.add(ab, f64x2.mul(x0, f64x2.promote_low_f32x4(i32x4.shuffle(va, vb, 0, 4, 0, 4))));
      cd = f64x2.add(cd, f64x2.mul(x0, f64x2.promote_low_f32x4(i32x4.shuffle(vc, vd, 0, 4, 0, 4))));
      const x1 = f64x2.promote_low_f32x4(v128.load32_splat(x + at, 4));
      ab = f64x2.add(ab, f64x2.mul(x1, f64x2.promote_low_f32x4(i32x4.shuffle(va, vb, 1, 5, 1, 5))));
      cd = f64x2.add(cd, f64x2.mul(x1, f64x2.promote_low_f32x4(i32x4.shuffle(vc, vd, 1, 5, 1, 5))));
      const x2 = f64x2.promote_low_f32x4(v128.load32_splat(x + at, 8));
      ab = f64x2.add(ab, f64x2.mul(x2, f64x2.promote_low_f32x4(i32x4.shuffle(va, vb, 2, 6, 2, 6))));
      cd = f64x2.add(cd, f64x2.mul(x2, f64x2.promote_low_f32x4(i32x4.shuffle(vc, vd, 2, 6, 2, 6))));
      const x3 = f64x2.promote_low_f32x4(v128.load32_splat(x + at, 12));
      ab = f64x2.add(ab, f64x2.mul(x3, f64x2.promote_low_f32x4(i32x4.shuffle(va, vb, 3, 7, 3, 7))));
      cd = f64x2.add(cd, f64x2.mul(x3, f64x2.promote_low_f32x4(i32x4.shuffle(vc, vd, 3, 7, 3, 7))));
    }
    let sumA = f64x2.extract_lane(ab, 0);
    let sumB = f64x2.extract_lane(ab, 1);
    let sumC = f64x2.extract_lane(cd, 0);
    let sumD = f64x2.extract_lane(cd, 1);
    for (; at < bytes; at += 4) {
      const value = <f64>load<f32>(x + at);
      sumA += value * <f64>load<f32>(a + at);
      sumB += value * <f64>load<f32>(b + at);
      sumC += value * <f64>load<f32>(c + at);
      sumD += value * <f64>load<f32>(d + at);
    }
    addTo(out, i, <f32>sumA);
    addTo(out, i + 1, <f32>sumB);
    addTo(out, i + 2, <f32>sumC);
    addTo(out, i + 3, <f32>sumD);
    i += 4;
  }
}

/** `gradient[leftRows[i]] += upstream[i] · right[rightRows[i]]`. */
export function addRowDotsGradient(
  gradient: usize,
  gradientStride: i32,
  upstream: usize,
  right: usize,
  rightStride: i32,
  width: i32,
  leftRows: usize,
  rightRows: usize,
  count: i32,
): void {
  const bytes = (<usize>width) << 2;
  const whole = bytes & ~7;
  for (let i = 0; i < count;) {
    const dx = rowAt(gradient, gradientStride, leftRows, i);
    const a = rowAt(right, rightStride, rightRows, i);
    const byA = <f64>valueAt(upstream, i);
    const ga = f64x2.splat(byA);
    let at: usize = 0;
    if (!fourFrom(leftRows, i, count)) {
      i++;
      if (byA == 0) continue;
      for (; at < whole; at += 8) v128.store64_lane(dx + at, plus(v128.load64_zero(dx + at), ga, a + at), 0);
      if (at < bytes) store<f32>(dx + at, <f32>(<f64>load<f32>(dx + at) + byA * <f64>load<f32>(a + at)));
      continue;
    }
    const b = rowAt(right, rightStride, rightRows, i + 1);
    const c = rowAt(right, rightStride, rightRows, i + 2);
    const d = rowAt(right, rightStride, rightRows, i + 3);
    const byB = <f64>valueAt(upstream, i + 1);
    const byC = <f64>valueAt(upstream, i + 2);
    const byD = <f64>valueAt(upstream, i + 3);
    const gb = f64x2.splat(byB);
    const gc = f64x2.splat(byC);
    const gd = f64x2.splat(byD);
    for (; at < whole; at += 8) {
      const sum = plus(plus(plus(plus(v128.load64_zero(dx + at), ga, a + at), gb, b + at), gc, c + at), gd, d + at);
      v128.store64_lane(dx + at, sum, 0);
    }
    if (at < bytes) {
      let sum = <f32>(<f64>load<f32>(dx + at) + byA * <f64>load<f32>(a + at));
      sum = <f32>(<f64>sum + byB * <f64>load<f32>(b + at));
      sum = <f32>(<f64>sum + byC * <f64>load<f32>(c + at));
      store<f32>(dx + at, <f32>(<f64>sum + byD * <f64>load<f32>(d + at)));
    }
    i += 4;
  }
}

/** Two float32 sums plus a multiple of two values, rounded to float32. */
function plus(sums: v128, by: v128, values: usize): v128 {
  const product = f64x2.mul(by, f64x2.promote_low_f32x4(v128.load64_zero(values)));
  return f32x4.demote_f64x2_zero(f64x2.add(f64x2.promote_low_f32x4(sums), product));
}

function rowAt(table: usize, stride: i32, rows: usize, i: i32): usize {
  return table + <usize>load<i32>(rows + ((<usize>i) << 2)) * <usize>stride * 4;
}

function valueAt(values: usize, i: i32): f32 {
  return load<f32>(values + ((<usize>i) << 2));
}

function addTo(out: usize, i: i32, value: f32): void {
  const at = out + ((<usize>i) << 2);
  store<f32>(at, load<f32>(at) + value);
}

/** Returns whether the pairs `i .. i + 3` are there and share their row. */
function fourFrom(rows: usize, i: i32, count: i32): bool {
  if (i + 3 >= count) return false;
  const row = load<i32>(rows + ((<usize>i) << 2));
  const next = rows + ((<usize>i) << 2);
  return load<i32>(next, 4) == row && load<i32>(next, 8) == row && load<i32>(next, 12) == row;
}
