// @ts-nocheck AssemblyScript: its compiler checks.
/** Exponentials of four values at once, and forward passes of small networks: layers without a bias. */

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

/** Columns of a panel: the weights of a layer are [panels, rows, columns], so that they are read once, in order. */
const columns: usize = 16;

/** With an absolute error of about 2e-7. */
function tanh(x: v128): v128 {
  const power = exponential(f32x4.add(x, x));
  return f32x4.sub(f32x4.splat(1), f32x4.div(f32x4.splat(2), f32x4.add(power, f32x4.splat(1))));
}

function put(out: usize, sum: v128, bend: bool): void {
  v128.store(out, bend ? tanh(sum) : sum);
}

function addTo(sum: v128, value: v128, weight: v128): v128 {
  return f32x4.add(sum, f32x4.mul(value, weight));
}

/** Four states and half a panel: a weight is read once for four. */
function fourStates(
  input: usize,
  inputBytes: usize,
  rows: usize,
  weights: usize,
  out: usize,
  outBytes: usize,
  bend: bool,
): void {
  const in1 = input + inputBytes;
  const in2 = in1 + inputBytes;
  const in3 = in2 + inputBytes;
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let b0 = f32x4.splat(0);
  let b1 = f32x4.splat(0);
  let c0 = f32x4.splat(0);
  let c1 = f32x4.splat(0);
  let d0 = f32x4.splat(0);
  let d1 = f32x4.splat(0);
  const end = rows << 2;
  for (let at: usize = 0; at < end; at += 4) {
    const v = v128.load(weights);
    const w = v128.load(weights, 16);
    weights += columns << 2;
    let x = v128.load32_splat(input + at);
    a0 = addTo(a0, x, v);
    a1 = addTo(a1, x, w);
    x = v128.load32_splat(in1 + at);
    b0 = addTo(b0, x, v);
    b1 = addTo(b1, x, w);
    x = v128.load32_splat(in2 + at);
    c0 = addTo(c0, x, v);
    c1 = addTo(c1, x, w);
    x = v128.load32_splat(in3 + at);
    d0 = addTo(d0, x, v);
    d1 = addTo(d1, x, w);
  }
  put(out, a0, bend);
  put(out + 16, a1, bend);
  out += outBytes;
  put(out, b0, bend);
  put(out + 16, b1, bend);
  out += outBytes;
  put(out, c0, bend);
  put(out + 16, c1, bend);
  out += outBytes;
  put(out, d0, bend);
  put(out + 16, d1, bend);
}

/** One state and a panel, summed in the same order as by `fourStates`. */
function oneState(input: usize, rows: usize, weights: usize, out: usize, bend: bool): void {
  let a = f32x4.splat(0);
  let b = f32x4.splat(0);
  let c = f32x4.splat(0);
  let d = f32x4.splat(0);
  const end = input + (rows << 2);
  for (; input < end; input += 4) {
    const x = v128.load32_splat(input);
    a = addTo(a, x, v128.load(weights));
    b = addTo(b, x, v128.load(weights, 16));
    c = addTo(c, x, v128.load(weights, 32));
    d = addTo(d, x, v128.load(weights, 48));
    weights += columns << 2;
  }
  put(out, a, bend);
  put(out + 16, b, bend);
  put(out + 32, c, bend);
  put(out + 48, d, bend);
}

/**
 * A layer without a bias: `out[s, c] = Σₖ input[s, k] · weights[k, c]`, then tanh (absolute error about 2e-7) where asked.
 * Each sum goes over k in order, so a state's outputs do not depend on the other states.
 * @param input float32 [numStates, inputWidth], of which the first `rows` are read
 * @param weights float32 [panels, rows, 16]: columns `16 · panel` to `16 · panel + 15`
 * @param out float32 [numStates, 16 · panels]
 */
export function denseLayer(
  input: usize,
  numStates: i32,
  inputWidth: i32,
  rows: i32,
  weights: usize,
  panels: i32,
  out: usize,
  bend: bool,
): void {
  const inputBytes = (<usize>inputWidth) << 2;
  const outBytes = <usize>panels * (columns << 2);
  for (let panel = 0; panel < panels; panel++) {
    let state = 0;
    for (; state + 4 <= numStates; state += 4) {
      const from = input + <usize>state * inputBytes;
      const to = out + <usize>state * outBytes;
      fourStates(from, inputBytes, rows, weights, to, outBytes, bend);
      fourStates(from, inputBytes, rows, weights + 32, to + 32, outBytes, bend);
    }
    for (; state < numStates; state++) {
      oneState(input + <usize>state * inputBytes, rows, weights, out + <usize>state * outBytes, bend);
    }
    weights += <usize>rows * (columns << 2);
    out += columns << 2;
  }
}
