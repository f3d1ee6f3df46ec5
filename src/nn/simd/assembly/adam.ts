// @ts-nocheck AssemblyScript: its compiler checks.
/** One step of Adam, float32. Every array has room for a multiple of 4, zeros behind its end. */

/** `Σ g[i]²`, summed in float64; the array is padded with zeros to a multiple of 4. */
export function sumSquares(g: usize, count: i32): f64 {
  const end = g + ((<usize>count) << 2);
  let low = f64x2.splat(0);
  let high = low;
  for (; g < end; g += 16) {
    const a = f64x2.promote_low_f32x4(v128.load(g));
    const b = f64x2.promote_low_f32x4(v128.load64_zero(g, 8));
    low = f64x2.add(low, f64x2.mul(a, a));
    high = f64x2.add(high, f64x2.mul(b, b));
  }
  return total(low, high);
}

/** `Σ g[i]`, summed in float64, so not finite where one of them is not; the same of its end. */
export function sumAll(g: usize, count: i32): f64 {
  const end = g + ((<usize>count) << 2);
  let low = f64x2.splat(0);
  let high = low;
  for (; g < end; g += 16) {
    low = f64x2.add(low, f64x2.promote_low_f32x4(v128.load(g)));
    high = f64x2.add(high, f64x2.promote_low_f32x4(v128.load64_zero(g, 8)));
  }
  return total(low, high);
}

function total(low: v128, high: v128): f64 {
  const sum = f64x2.add(low, high);
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

/**
 * One step of Adam in place, for the gradient `g` scaled by `s`; arrays are padded with zeros to a multiple of 4.
 * @param gain s · (1 − β₁)
 * @param squareGain s² · (1 − β₂)
 * @param decay what the values are multiplied with before the step
 */
export function adamStep(
  values: usize,
  first: usize,
  second: usize,
  g: usize,
  count: i32,
  beta1: f32,
  gain: f32,
  beta2: f32,
  squareGain: f32,
  stepSize: f32,
  secondScale: f32,
  epsilon: f32,
  decay: f32,
): void {
  const end = g + ((<usize>count) << 2);
  const keep1 = f32x4.splat(beta1);
  const keep2 = f32x4.splat(beta2);
  const take1 = f32x4.splat(gain);
  const take2 = f32x4.splat(squareGain);
  const step = f32x4.splat(stepSize);
  const scale = f32x4.splat(secondScale);
  const small = f32x4.splat(epsilon);
  const shrink = f32x4.splat(decay);
  for (; g < end; g += 16, values += 16, first += 16, second += 16) {
    const grad = v128.load(g);
    const one = f32x4.add(f32x4.mul(v128.load(first), keep1), f32x4.mul(grad, take1));
    const two = f32x4.add(f32x4.mul(v128.load(second), keep2), f32x4.mul(f32x4.mul(grad, grad), take2));
    const root = f32x4.add(f32x4.mul(f32x4.sqrt(two), scale), small);
    v128.store(first, one);
    v128.store(second, two);
    v128.store(values, f32x4.sub(f32x4.mul(v128.load(values), shrink), f32x4.mul(f32x4.div(one, root), step)));
  }
}
