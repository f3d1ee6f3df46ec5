// @ts-nocheck AssemblyScript: its compiler checks.
/**
 * Dot products of two queries with listed rows of one table, in float64: even and odd places are summed apart, each in order, and
 * then together.
 */

/** Adds two places of a row, as float64, times those of a query. */
function plus(sum: v128, query: usize, pair: v128): v128 {
  return f64x2.add(sum, f64x2.mul(v128.load(query), pair));
}

function both(sums: v128): f32 {
  return <f32>(f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1));
}

/**
 * Dot products of two queries with the same rows: to the bit what plain TypeScript gives that sums even and odd places apart.
 * @param first float64 [width], as is `second` @param width even
 * @param table float32 [any, width]
 * @param rows int32 [count]
 * @param outFirst float32 [count], as is `outSecond`
 */
export function twoDots(
  first: usize,
  second: usize,
  width: i32,
  table: usize,
  rows: usize,
  count: i32,
  outFirst: usize,
  outSecond: usize,
): void {
  const bytes = (<usize>width) << 2;
  for (let i = 0; i < count; i += 4) {
    const left = count - i;
    const at = rows + ((<usize>i) << 2);
    const a = table + <usize>load<i32>(at) * bytes;
    const b = left > 1 ? table + <usize>load<i32>(at, 4) * bytes : a;
    const c = left > 2 ? table + <usize>load<i32>(at, 8) * bytes : a;
    const d = left > 3 ? table + <usize>load<i32>(at, 12) * bytes : a;
    let a1 = f64x2.splat(0);
    let a2 = a1;
    let b1 = a1;
    let b2 = a1;
    let c1 = a1;
    let c2 = a1;
    let d1 = a1;
    let d2 = a1;
    for (let place: usize = 0; place < bytes; place += 8) {
      const one = first + (place << 1);
      const two = second + (place << 1);
      let pair = f64x2.promote_low_f32x4(v128.load64_zero(a + place));
      a1 = plus(a1, one, pair);
      a2 = plus(a2, two, pair);
      pair = f64x2.promote_low_f32x4(v128.load64_zero(b + place));
      b1 = plus(b1, one, pair);
      b2 = plus(b2, two, pair);
      pair = f64x2.promote_low_f32x4(v128.load64_zero(c + place));
      c1 = plus(c1, one, pair);
      c2 = plus(c2, two, pair);
      pair = f64x2.promote_low_f32x4(v128.load64_zero(d + place));
      d1 = plus(d1, one, pair);
      d2 = plus(d2, two, pair);
    }
    const to = (<usize>i) << 2;
    store<f32>(outFirst + to, both(a1));
    store<f32>(outSecond + to, both(a2));
    if (left > 1) {
      store<f32>(outFirst + to, both(b1), 4);
      store<f32>(outSecond + to, both(b2), 4);
    }
    if (left > 2) {
      store<f32>(outFirst + to, both(c1), 8);
      store<f32>(outSecond + to, both(c2), 8);
    }
    if (left > 3) {
      store<f32>(outFirst + to, both(d1), 12);
      store<f32>(outSecond + to, both(d2), 12);
    }
  }
}
