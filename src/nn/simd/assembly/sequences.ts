// @ts-nocheck AssemblyScript: its compiler checks.
/**
 * Parts of sequence networks other than products, float32: a GRU's gates, attention, blocks of columns. Arguments named as
 * arrays are byte offsets, of which 0 stands for none; sizes and strides count values. Reads go up to 3 values behind an array's end, writes do not.
 */
import { exponential } from './exponential.ts';
import { tanh4 } from './layers.ts';

/** All bits of the lanes that are left of a row, whose length is not always a multiple of 4. */
function lanes(left: usize): v128 {
  return i32x4.gt_s(i32x4.splat(<i32>(left >> 2)), i32x4(0, 1, 2, 3));
}

function put(at: usize, value: v128, mask: v128): void {
  v128.store(at, v128.bitselect(value, v128.load(at), mask));
}

function add(at: usize, value: v128, mask: v128): void {
  const old = v128.load(at);
  v128.store(at, v128.bitselect(f32x4.add(old, value), old, mask));
}

/** σ(x) = ½ + ½ tanh(x / 2) */
function sigmoid4(x: v128): v128 {
  const half = f32x4.splat(0.5);
  return f32x4.add(half, f32x4.mul(half, tanh4(f32x4.mul(half, x))));
}

/**
 * One step of a GRU for `m` sequences, gates in the order update z, reset r, candidate c, with σ(x) = ½ + ½ tanh(x / 2):
 * `z = σ(given + own)`, `r = σ(given + own)`, `c = tanh(given + r · own)`, `hidden = z · past + (1 − z) · c`.
 * @param given float32 [m, 3 · dim]: what the inputs bring to the gates
 * @param own float32 [m, 3 · dim]: what the past states bring
 * @param past float32 [m, dim]; 0: zeros
 * @param gates float32 [m, 2 · dim], written
 * @param candidates float32 [m, dim], written, as `hidden`
 */
export function gruStep(
  given: usize,
  own: usize,
  past: usize,
  gates: usize,
  candidates: usize,
  hidden: usize,
  m: i32,
  dim: i32,
): void {
  const bytes = (<usize>dim) << 2;
  const one = f32x4.splat(1);
  for (let i = 0; i < m; i++) {
    for (let at: usize = 0; at < bytes; at += 16) {
      const mask = lanes(bytes - at);
      const update = sigmoid4(f32x4.add(v128.load(given + at), v128.load(own + at)));
      const reset = sigmoid4(f32x4.add(v128.load(given + bytes + at), v128.load(own + bytes + at)));
      const brought = f32x4.mul(reset, v128.load(own + 2 * bytes + at));
      const candidate = tanh4(f32x4.add(v128.load(given + 2 * bytes + at), brought));
      let state = f32x4.mul(f32x4.sub(one, update), candidate);
      if (past) state = f32x4.add(f32x4.mul(update, v128.load(past + at)), state);
      put(gates + at, update, mask);
      put(gates + bytes + at, reset, mask);
      put(candidates + at, candidate, mask);
      put(hidden + at, state, mask);
    }
    given += 3 * bytes;
    own += 3 * bytes;
    gates += 2 * bytes;
    candidates += bytes;
    hidden += bytes;
    if (past) past += bytes;
  }
}

/**
 * Backward of `gruStep`, apart from products: writes `ofOwn`, adds to `ofGiven` and, through the update gate alone, to `ofPast`.
 * @param grads float32 [m, dim]: by `hidden`
 */
export function gruGrad(
  grads: usize,
  own: usize,
  past: usize,
  gates: usize,
  candidates: usize,
  ofGiven: usize,
  ofOwn: usize,
  ofPast: usize,
  m: i32,
  dim: i32,
): void {
  const bytes = (<usize>dim) << 2;
  const one = f32x4.splat(1);
  for (let i = 0; i < m; i++) {
    for (let at: usize = 0; at < bytes; at += 16) {
      const mask = lanes(bytes - at);
      const grad = v128.load(grads + at);
      const update = v128.load(gates + at);
      const reset = v128.load(gates + bytes + at);
      const candidate = v128.load(candidates + at);
      const state = past ? v128.load(past + at) : f32x4.splat(0);
      const rest = f32x4.sub(one, update);
      const bend = f32x4.sub(one, f32x4.mul(candidate, candidate));
      const ofCandidate = f32x4.mul(f32x4.mul(grad, rest), bend);
      const ofUpdate = f32x4.mul(f32x4.mul(grad, f32x4.sub(state, candidate)), f32x4.mul(update, rest));
      const ofReset = f32x4.mul(
        f32x4.mul(ofCandidate, v128.load(own + 2 * bytes + at)),
        f32x4.mul(reset, f32x4.sub(one, reset)),
      );
      put(ofOwn + at, ofUpdate, mask);
      put(ofOwn + bytes + at, ofReset, mask);
      put(ofOwn + 2 * bytes + at, f32x4.mul(ofCandidate, reset), mask);
      add(ofGiven + at, ofUpdate, mask);
      add(ofGiven + bytes + at, ofReset, mask);
      add(ofGiven + 2 * bytes + at, ofCandidate, mask);
      if (past) add(ofPast + at, f32x4.mul(grad, update), mask);
    }
    grads += bytes;
    own += 3 * bytes;
    gates += 2 * bytes;
    candidates += bytes;
    ofGiven += 3 * bytes;
    ofOwn += 3 * bytes;
    if (past) {
      past += bytes;
      ofPast += bytes;
    }
  }
}

/** Four lanes, then what is left. */
function dot(x: usize, y: usize, bytes: usize): f32 {
  let sums = f32x4.splat(0);
  for (let at: usize = 0; at < bytes; at += 16) {
    const product = f32x4.mul(v128.load(x + at), v128.load(y + at));
    sums = f32x4.add(sums, v128.and(product, lanes(bytes - at)));
  }
  return (
    f32x4.extract_lane(sums, 0) +
    f32x4.extract_lane(sums, 1) +
    (f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3))
  );
}

function addScaled(to: usize, from: usize, by: f32, bytes: usize): void {
  const factor = f32x4.splat(by);
  for (let at: usize = 0; at < bytes; at += 16) {
    add(to + at, f32x4.mul(factor, v128.load(from + at)), lanes(bytes - at));
  }
}

/**
 * `shares[j] = softmax_j(query[i] · x[j])` over the rows `offsets[i] .. offsets[i + 1] - 1` of each query, at least one, and
 * `out[i] = Σ_j shares[j] · x[j]`; rows of `n` values.
 * @param offsets int32 [m + 1]
 * @param shares float32 [rows of x], written
 */
export function attend(query: usize, x: usize, offsets: usize, m: i32, n: i32, shares: usize, out: usize): void {
  const bytes = (<usize>n) << 2;
  memory.fill(out, 0, <usize>m * bytes);
  for (let i = 0; i < m; i++, query += bytes, out += bytes, offsets += 4) {
    const begin = load<i32>(offsets);
    const end = load<i32>(offsets, 4);
    let most: f32 = -Infinity;
    for (let j = begin; j < end; j++) {
      const score = dot(query, x + <usize>j * bytes, bytes);
      store<f32>(shares + ((<usize>j) << 2), score);
      // Not max(), whose answer to NaN is NaN: a loss that is not finite is noticed either way.
      if (score > most) most = score;
    }
    let sum: f32 = 0;
    for (let j = begin; j < end; j++) {
      const at = shares + ((<usize>j) << 2);
      const share = f32x4.extract_lane(exponential(f32x4.splat(load<f32>(at) - most)), 0);
      store<f32>(at, share);
      sum += share;
    }
    for (let j = begin; j < end; j++) {
      const at = shares + ((<usize>j) << 2);
      const share = load<f32>(at) / sum;
      store<f32>(at, share);
      addScaled(out, x + <usize>j * bytes, share, bytes);
    }
  }
}

/** Backward of `attend`: adds to `ofQuery` and `ofX`, each of which may be 0. @param grads by `out` */
export function attendGrad(
  grads: usize,
  query: usize,
  x: usize,
  offsets: usize,
  m: i32,
  n: i32,
  shares: usize,
  out: usize,
  ofQuery: usize,
  ofX: usize,
): void {
  const bytes = (<usize>n) << 2;
  for (let i = 0; i < m; i++, query += bytes, out += bytes, offsets += 4, grads += bytes) {
    const whole = dot(grads, out, bytes);
    const end = load<i32>(offsets, 4);
    for (let j = load<i32>(offsets); j < end; j++) {
      const row = <usize>j * bytes;
      const share = load<f32>(shares + ((<usize>j) << 2));
      const ofScore = share * (dot(grads, x + row, bytes) - whole);
      if (ofQuery) addScaled(ofQuery + <usize>i * bytes, x + row, ofScore, bytes);
      if (!ofX) continue;
      addScaled(ofX + row, grads, share, bytes);
      addScaled(ofX + row, query, ofScore, bytes);
    }
  }
}

/** `to[i · toRow + j] += a[i · n + j] · b[i · bRow + j]`, in order; a stride of 0 stays at one row. */
export function addProducts(to: usize, toRow: i32, a: usize, b: usize, bRow: i32, m: i32, n: i32): void {
  const bytes = (<usize>n) << 2;
  for (let i = 0; i < m; i++, a += bytes, to += (<usize>toRow) << 2, b += (<usize>bRow) << 2) {
    for (let at: usize = 0; at < bytes; at += 16) {
      add(to + at, f32x4.mul(v128.load(a + at), v128.load(b + at)), lanes(bytes - at));
    }
  }
}

/** `to[i · toRow + j] = from[i · fromRow + j]` for `m` rows of `n` values. */
export function copyBlock(to: usize, toRow: i32, from: usize, fromRow: i32, m: i32, n: i32): void {
  const bytes = (<usize>n) << 2;
  for (let i = 0; i < m; i++, to += (<usize>toRow) << 2, from += (<usize>fromRow) << 2) memory.copy(to, from, bytes);
}

/** The same with `+=`. */
export function addBlock(to: usize, toRow: i32, from: usize, fromRow: i32, m: i32, n: i32): void {
  const bytes = (<usize>n) << 2;
  for (let i = 0; i < m; i++, to += (<usize>toRow) << 2, from += (<usize>fromRow) << 2) {
    for (let at: usize = 0; at < bytes; at += 16) add(to + at, v128.load(from + at), lanes(bytes - at));
  }
}
