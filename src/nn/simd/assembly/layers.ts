// @ts-nocheck AssemblyScript: its compiler checks.
/** The parts of a dense layer other than its product, float32. */
import { exponential, sigmoid } from './exponential.ts';

/** `y[i · n + j] += bias[j]`, float32 [m, n]. */
export function addBias(y: usize, bias: usize, m: i32, n: i32): void {
  const end = bias + ((<usize>n) << 2);
  for (let i = 0; i < m; i++) {
    let at = bias;
    for (; at + 16 <= end; at += 16, y += 16) v128.store(y, f32x4.add(v128.load(y), v128.load(at)));
    for (; at < end; at += 4, y += 4) store<f32>(y, load<f32>(y) + load<f32>(at));
  }
}

/** `y[i] = tanh(y[i])`, absolute error below 3e-7; up to 3 values behind `count` change too. */
export function tanhAll(y: usize, count: i32): void {
  const end = y + ((<usize>count) << 2);
  // Four at once share the constants, which are made again each time around.
  for (; y + 48 < end; y += 64) {
    const a = tanh4(v128.load(y));
    const b = tanh4(v128.load(y, 16));
    const c = tanh4(v128.load(y, 32));
    const d = tanh4(v128.load(y, 48));
    v128.store(y, a);
    v128.store(y, b, 16);
    v128.store(y, c, 32);
    v128.store(y, d, 48);
  }
  for (; y < end; y += 16) v128.store(y, tanh4(v128.load(y)));
}

/** `g[i] *= 1 − y[i]²`: the backward pass of `y = tanh(x)`; up to 3 values of `g` behind `count` change too. */
export function tanhGrad(g: usize, y: usize, count: i32): void {
  const end = y + ((<usize>count) << 2);
  const one = f32x4.splat(1);
  for (; y < end; y += 16, g += 16) {
    const value = v128.load(y);
    v128.store(g, f32x4.mul(v128.load(g), f32x4.sub(one, f32x4.mul(value, value))));
  }
}

/** `y[i] = 1 / (1 + e^−y[i])`; up to 3 values behind `count` change too, as in all that follow up to `leakyGrad`. */
export function sigmoidAll(y: usize, count: i32): void {
  const end = y + ((<usize>count) << 2);
  for (; y < end; y += 16) v128.store(y, sigmoid(v128.load(y)));
}

/** `g[i] *= y[i] · (1 − y[i])` */
export function sigmoidGrad(g: usize, y: usize, count: i32): void {
  const end = y + ((<usize>count) << 2);
  const one = f32x4.splat(1);
  for (; y < end; y += 16, g += 16) {
    const value = v128.load(y);
    v128.store(g, f32x4.mul(v128.load(g), f32x4.mul(value, f32x4.sub(one, value))));
  }
}

/** `y[i] = e^y[i]` */
export function expAll(y: usize, count: i32): void {
  const end = y + ((<usize>count) << 2);
  for (; y < end; y += 16) v128.store(y, exponential(v128.load(y)));
}

/** `g[i] *= y[i]` */
export function expGrad(g: usize, y: usize, count: i32): void {
  const end = y + ((<usize>count) << 2);
  for (; y < end; y += 16, g += 16) v128.store(g, f32x4.mul(v128.load(g), v128.load(y)));
}

/** `y[i] = y[i] > 0 ? y[i] : y[i] / 5` */
export function leakyAll(y: usize, count: i32): void {
  const end = y + ((<usize>count) << 2);
  for (; y < end; y += 16) v128.store(y, leaky(v128.load(y), v128.load(y)));
}

/** `g[i] = y[i] > 0 ? g[i] : g[i] / 5` */
export function leakyGrad(g: usize, y: usize, count: i32): void {
  const end = y + ((<usize>count) << 2);
  for (; y < end; y += 16, g += 16) v128.store(g, leaky(v128.load(g), v128.load(y)));
}

function leaky(x: v128, by: v128): v128 {
  return v128.bitselect(x, f32x4.mul(x, f32x4.splat(0.2)), f32x4.gt(by, f32x4.splat(0)));
}

/** `to[i] = 0` */
export function zeroAll(to: usize, count: i32): void {
  memory.fill(to, 0, (<usize>count) << 2);
}

/** `to[i] = from[i]` */
export function copyAll(to: usize, from: usize, count: i32): void {
  memory.copy(to, from, (<usize>count) << 2);
}

/** `to[i] += scale · from[i]` */
export function addScaled(to: usize, from: usize, count: i32, scale: f32): void {
  const end = from + ((<usize>count) << 2);
  const whole = end - 15;
  const by = f32x4.splat(scale);
  for (; from < whole; from += 16, to += 16) {
    v128.store(to, f32x4.add(v128.load(to), f32x4.mul(by, v128.load(from))));
  }
  for (; from < end; from += 4, to += 4) store<f32>(to, load<f32>(to) + scale * load<f32>(from));
}

/** `sums[j] = Σᵢ g[i · n + j]`, float32 [n]. */
export function columnSums(g: usize, m: i32, n: i32, sums: usize): void {
  const end = sums + ((<usize>n) << 2);
  memory.fill(sums, 0, (<usize>n) << 2);
  for (let i = 0; i < m; i++) {
    let at = sums;
    for (; at + 16 <= end; at += 16, g += 16) v128.store(at, f32x4.add(v128.load(at), v128.load(g)));
    for (; at < end; at += 4, g += 4) store<f32>(at, load<f32>(at) + load<f32>(g));
  }
}

/** tanh x = 1 − 2 / (e^{2x} + 1), on |x|, with 2^f for f in [−½, ½] by its Taylor series to the 7th power. */
// @inline
export function tanh4(x: v128): v128 {
  const size = f32x4.pmin(f32x4.abs(x), f32x4.splat(10));
  const exponent = f32x4.mul(size, f32x4.splat(2.8853900817779268));
  // 1.5 · 2²³: rounds to the nearest whole number, which stands in the lowest bits.
  const rounding = f32x4.splat(12582912);
  const shifted = f32x4.add(exponent, rounding);
  const f = f32x4.sub(exponent, f32x4.sub(shifted, rounding));
  // (ln 2)^k / k!
  let power = f32x4.splat(1.5252733804059841e-5);
  power = f32x4.add(f32x4.mul(power, f), f32x4.splat(1.5403530393381608e-4));
  power = f32x4.add(f32x4.mul(power, f), f32x4.splat(1.3333558146428443e-3));
  power = f32x4.add(f32x4.mul(power, f), f32x4.splat(9.6181291076284769e-3));
  power = f32x4.add(f32x4.mul(power, f), f32x4.splat(5.5504108664821576e-2));
  power = f32x4.add(f32x4.mul(power, f), f32x4.splat(2.4022650695910069e-1));
  power = f32x4.add(f32x4.mul(power, f), f32x4.splat(6.9314718055994529e-1));
  power = f32x4.add(f32x4.mul(power, f), f32x4.splat(1));
  const scale = i32x4.shl(i32x4.add(shifted, i32x4.splat(127)), 23);
  const one = f32x4.splat(1);
  const tanh = f32x4.sub(one, f32x4.div(f32x4.splat(2), f32x4.add(f32x4.mul(power, scale), one)));
  return v128.or(tanh, v128.and(x, i32x4.splat(<i32>0x80000000)));
}

/** `out[i · n + j] = table[index[i] · n + j]` for `m` rows. */
export function copyRows(out: usize, table: usize, index: usize, m: i32, n: i32): void {
  const bytes = (<usize>n) << 2;
  for (let i = 0; i < m; i++, out += bytes) {
    memory.copy(out, table + <usize>load<i32>(index + ((<usize>i) << 2)) * bytes, bytes);
  }
}
