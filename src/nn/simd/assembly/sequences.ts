// @ts-nocheck AssemblyScript: its compiler checks.
/**
 * Parts of sequence networks other than products, float32: a GRU's gates, blocks of columns. Arguments named as
 * arrays are byte offsets, of which 0 stands for none; sizes and strides count values. Reads go up to 3 values behind an array's end, writes do not.
 */
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
 * `z = σ(given + own)`, `r = σ(given + own)`, `c = tanh(given + r · own)`, `out = z · past + (1 − z) · c`.
 * @param given float32 [m, 3 · dim]: what the inputs bring to the gates
 * @param own float32 [m, 3 · dim]: what the past states bring
 * @param past float32 [m, dim]
 * @param gates float32 [m, 3 · dim], written, as `out` [m, dim]
 */
export function gruCell(given: usize, own: usize, past: usize, gates: usize, out: usize, m: i32, dim: i32): void {
  const bytes = (<usize>dim) << 2;
  const one = f32x4.splat(1);
  for (let i = 0; i < m; i++) {
    for (let at: usize = 0; at < bytes; at += 16) {
      const mask = lanes(bytes - at);
      const update = sigmoid4(f32x4.add(v128.load(given + at), v128.load(own + at)));
      const reset = sigmoid4(f32x4.add(v128.load(given + bytes + at), v128.load(own + bytes + at)));
      const brought = f32x4.mul(reset, v128.load(own + 2 * bytes + at));
      const candidate = tanh4(f32x4.add(v128.load(given + 2 * bytes + at), brought));
      const fresh = f32x4.mul(f32x4.sub(one, update), candidate);
      put(gates + at, update, mask);
      put(gates + bytes + at, reset, mask);
      put(gates + 2 * bytes + at, candidate, mask);
      put(out + at, f32x4.add(f32x4.mul(update, v128.load(past + at)), fresh), mask);
    }
    given += 3 * bytes;
    own += 3 * bytes;
    gates += 3 * bytes;
    past += bytes;
    out += bytes;
  }
}

/** Backward of `gruCell`: adds to `ofGiven`, `ofOwn` and `ofPast`, each of which may be 0. @param grads float32 [m, dim]: by `out` */
export function gruCellGrad(
  grads: usize,
  own: usize,
  past: usize,
  gates: usize,
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
      const candidate = v128.load(gates + 2 * bytes + at);
      const rest = f32x4.sub(one, update);
      const bend = f32x4.sub(one, f32x4.mul(candidate, candidate));
      const ofCandidate = f32x4.mul(f32x4.mul(grad, rest), bend);
      const change = f32x4.sub(v128.load(past + at), candidate);
      const ofUpdate = f32x4.mul(f32x4.mul(grad, change), f32x4.mul(update, rest));
      const ofReset = f32x4.mul(
        f32x4.mul(ofCandidate, v128.load(own + 2 * bytes + at)),
        f32x4.mul(reset, f32x4.sub(one, reset)),
      );
      if (ofOwn) {
        add(ofOwn + at, ofUpdate, mask);
        add(ofOwn + bytes + at, ofReset, mask);
        add(ofOwn + 2 * bytes + at, f32x4.mul(ofCandidate, reset), mask);
      }
      if (ofGiven) {
        add(ofGiven + at, ofUpdate, mask);
        add(ofGiven + bytes + at, ofReset, mask);
        add(ofGiven + 2 * bytes + at, ofCandidate, mask);
      }
      if (ofPast) add(ofPast + at, f32x4.mul(grad, update), mask);
    }
    grads += bytes;
    own += 3 * bytes;
    gates += 3 * bytes;
    past += bytes;
    if (ofGiven) ofGiven += 3 * bytes;
    if (ofOwn) ofOwn += 3 * bytes;
    if (ofPast) ofPast += bytes;
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
