/** Forward passes of small networks: layers without a bias. */
import { exponential } from './exponential';

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

/** See `../kernels.ts`. */
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
