// @ts-nocheck AssemblyScript: its compiler checks.
/** Exponentials of four values at once. */

/**
 * WebAssembly has no exponential, and those of JavaScript engines differ.
 * e^x with a relative error of about 1e-7, for x clamped to ±80, where neither it nor its inverse leaves float32; NaN stays.
 * x = n ln 2 + r: 2ⁿ is put together from bits, eʳ with |r| ≤ ln 2 / 2 is its Taylor polynomial of degree 7.
 */
export function exponential(x: v128): v128 {
  x = f32x4.max(f32x4.min(x, f32x4.splat(80)), f32x4.splat(-80));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.4426950408889634)));
  // ln 2 in two parts, the first with so few digits that its product with n is exact.
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.12194440054690583e-4)));
  let sum = f32x4.splat(1.0 / 5040.0);
  sum = f32x4.add(f32x4.mul(sum, r), f32x4.splat(1.0 / 720.0));
  sum = f32x4.add(f32x4.mul(sum, r), f32x4.splat(1.0 / 120.0));
  sum = f32x4.add(f32x4.mul(sum, r), f32x4.splat(1.0 / 24.0));
  sum = f32x4.add(f32x4.mul(sum, r), f32x4.splat(1.0 / 6.0));
  sum = f32x4.add(f32x4.mul(sum, r), f32x4.splat(0.5));
  sum = f32x4.add(f32x4.mul(sum, r), f32x4.splat(1));
  sum = f32x4.add(f32x4.mul(sum, r), f32x4.splat(1));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(sum, power);
}

/** 1 / (1 + e^−x) */
export function sigmoid(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exponential(f32x4.neg(x))));
}
