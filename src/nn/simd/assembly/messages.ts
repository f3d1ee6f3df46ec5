// @ts-nocheck AssemblyScript: its compiler checks.
/**
 * Message passing over a graph, float32: an edge brings `x[from] ⊙ w[relation]`. A receiver has the sum of what arrives, in which of every 16
 * channels the last 8 are scaled by the edge's share, then, where `chosen` is not 0, the maximum of 0 and what arrives unscaled, with the edge
 * that brought it. Arguments named as arrays are byte offsets. Rows are those of reached entities, by `places`; edges of entity `i` are
 * `offsets[i] .. offsets[i + 1] - 1`; those between `first` and `second` are left out, of all relations or, where `forth` is not negative, of
 * `forth` from `first` and of `back` from `second`.
 */

/** Bytes of the channels that are computed at once. */
const block: usize = 64;

let offsets: usize = 0;
let tails: usize = 0;
let relations: usize = 0;
let places: usize = 0;
/** Bytes of a row of states. */
let width: usize = 0;
let first: i32 = -1;
let second: i32 = -1;
let forth: i32 = -1;
let back: i32 = -1;

/**
 * The graph that the following calls are about. @param rows int32 [entities + 1] @param ends int32 [edges], as is `kinds`
 * @param rowOf int32 [entities]: row of each entity, -1 where it has none @param channels a multiple of 16
 */
export function messageGraph(rows: usize, ends: usize, kinds: usize, rowOf: usize, channels: i32): void {
  offsets = rows;
  tails = ends;
  relations = kinds;
  places = rowOf;
  width = (<usize>channels) << 2;
}

/**
 * Edges between two entities that are left out from now on: all of them, or where `own` is not negative those of `own` from `first` and
 * those of `inverse` from `second`. @param first -1: none is
 */
export function messageHidden(one: i32, other: i32, own: i32, inverse: i32): void {
  first = one;
  second = other;
  forth = own;
  back = inverse;
}

/** Returns whether an edge of `from` is left out. */
function isHidden(from: i32, tail: i32, relation: i32): bool {
  if (from == first && tail == second) return forth < 0 || relation == forth;
  return from == second && tail == first && (forth < 0 || relation == back);
}

// @inline
function number(list: usize, i: i32): i32 {
  return load<i32>(list + ((<usize>i) << 2));
}

// @inline
function addTo(at: usize, value: v128): void {
  v128.store(at, f32x4.add(v128.load(at), value));
}

/** Keeps the greater, and the edge that brought it. */
// @inline
function keepBest(at: usize, chosen: usize, value: v128, edge: v128): void {
  const now = v128.load(at);
  const better = f32x4.gt(value, now);
  v128.store(at, v128.bitselect(value, now, better));
  v128.store(chosen, v128.bitselect(edge, v128.load(chosen), better));
}

/** The gradient of a maximum for the edge that brought it, else 0. */
// @inline
function ofBest(grads: usize, chosen: usize, edge: v128): v128 {
  return v128.and(v128.load(grads), i32x4.eq(v128.load(chosen), edge));
}

/**
 * Sends along the edges of reached entities: adds to `out`. Every tail has a row.
 * @param list int32 [count]: entity of each row @param shares float32 [edges] @param out float32 [rows, channels], twice as wide with `chosen`
 * @param chosen int32 [rows, channels]: 1 + edge, or 0: no maximum
 */
export function pushMessages(
  list: usize,
  count: i32,
  shares: usize,
  x: usize,
  w: usize,
  out: usize,
  chosen: usize,
): void {
  const outWidth = chosen ? 2 * width : width;
  for (let i = 0; i < count; i++) {
    const from = number(list, i);
    const watched = from == first || from == second;
    const begin = number(offsets, from);
    const end = number(offsets, from + 1);
    for (let channel: usize = 0; channel < width; channel += block) {
      const own = x + <usize>i * width + channel;
      const a = v128.load(own);
      const b = v128.load(own, 16);
      const c = v128.load(own, 32);
      const d = v128.load(own, 48);
      for (let edge = begin; edge < end; edge++) {
        const tail = number(tails, edge);
        const relation = number(relations, edge);
        if (watched && isHidden(from, tail, relation)) continue;
        const by = w + <usize>relation * width + channel;
        const row = <usize>number(places, tail);
        const to = out + row * outWidth + channel;
        const share = v128.load32_splat(shares + ((<usize>edge) << 2));
        const p = f32x4.mul(a, v128.load(by));
        const q = f32x4.mul(b, v128.load(by, 16));
        const r = f32x4.mul(c, v128.load(by, 32));
        const s = f32x4.mul(d, v128.load(by, 48));
        addTo(to, p);
        addTo(to + 16, q);
        addTo(to + 32, f32x4.mul(r, share));
        addTo(to + 48, f32x4.mul(s, share));
        if (!chosen) continue;
        const id = i32x4.splat(edge + 1);
        const best = to + width;
        const ids = chosen + row * width + channel;
        keepBest(best, ids, p, id);
        keepBest(best + 16, ids + 16, q, id);
        keepBest(best + 32, ids + 32, r, id);
        keepBest(best + 48, ids + 48, s, id);
      }
    }
  }
}

/**
 * Gathers for some entities along the same edges walked the other way, from their tails that have a row: written to `out`.
 * @param list int32 [count]: entity of each row of `out` and `chosen`
 */
export function pullMessages(
  list: usize,
  count: i32,
  shares: usize,
  x: usize,
  w: usize,
  out: usize,
  chosen: usize,
): void {
  const outWidth = chosen ? 2 * width : width;
  const zero = f32x4.splat(0);
  for (let i = 0; i < count; i++) {
    const from = number(list, i);
    const watched = from == first || from == second;
    const begin = number(offsets, from);
    const end = number(offsets, from + 1);
    for (let channel: usize = 0; channel < width; channel += block) {
      let a = zero;
      let b = zero;
      let c = zero;
      let d = zero;
      const to = out + <usize>i * outWidth + channel;
      const best = to + width;
      const ids = chosen + <usize>i * width + channel;
      if (chosen) {
        for (let at: usize = 0; at < block; at += 16) {
          v128.store(best + at, zero);
          v128.store(ids + at, zero);
        }
      }
      for (let edge = begin; edge < end; edge++) {
        const tail = number(tails, edge);
        const row = number(places, tail);
        if (row < 0) continue;
        const relation = number(relations, edge);
        if (watched && isHidden(from, tail, relation)) continue;
        const by = w + <usize>relation * width + channel;
        const at = x + <usize>row * width + channel;
        const share = v128.load32_splat(shares + ((<usize>edge) << 2));
        const p = f32x4.mul(v128.load(at), v128.load(by));
        const q = f32x4.mul(v128.load(at, 16), v128.load(by, 16));
        const r = f32x4.mul(v128.load(at, 32), v128.load(by, 32));
        const s = f32x4.mul(v128.load(at, 48), v128.load(by, 48));
        a = f32x4.add(a, p);
        b = f32x4.add(b, q);
        c = f32x4.add(c, f32x4.mul(r, share));
        d = f32x4.add(d, f32x4.mul(s, share));
        if (!chosen) continue;
        const id = i32x4.splat(edge + 1);
        keepBest(best, ids, p, id);
        keepBest(best + 16, ids + 16, q, id);
        keepBest(best + 32, ids + 32, r, id);
        keepBest(best + 48, ids + 48, s, id);
      }
      v128.store(to, a);
      v128.store(to, b, 16);
      v128.store(to, c, 32);
      v128.store(to, d, 48);
    }
  }
}

/** Backward of `pushMessages`: adds to `ofX` and `ofW`. @param grads by `out` */
export function pushGrads(
  list: usize,
  count: i32,
  shares: usize,
  x: usize,
  w: usize,
  grads: usize,
  chosen: usize,
  ofX: usize,
  ofW: usize,
): void {
  const outWidth = chosen ? 2 * width : width;
  for (let i = 0; i < count; i++) {
    const from = number(list, i);
    const watched = from == first || from == second;
    const begin = number(offsets, from);
    const end = number(offsets, from + 1);
    for (let channel: usize = 0; channel < width; channel += block) {
      const own = <usize>i * width + channel;
      const a = v128.load(x + own);
      const b = v128.load(x + own, 16);
      const c = v128.load(x + own, 32);
      const d = v128.load(x + own, 48);
      let ofA = f32x4.splat(0);
      let ofB = ofA;
      let ofC = ofA;
      let ofD = ofA;
      for (let edge = begin; edge < end; edge++) {
        const tail = number(tails, edge);
        const relation = number(relations, edge);
        if (watched && isHidden(from, tail, relation)) continue;
        const row = <usize>number(places, tail);
        const to = grads + row * outWidth + channel;
        const by = <usize>relation * width + channel;
        const share = v128.load32_splat(shares + ((<usize>edge) << 2));
        let p = v128.load(to);
        let q = v128.load(to, 16);
        let r = f32x4.mul(v128.load(to, 32), share);
        let s = f32x4.mul(v128.load(to, 48), share);
        if (chosen) {
          const id = i32x4.splat(edge + 1);
          const best = to + width;
          const ids = chosen + row * width + channel;
          p = f32x4.add(p, ofBest(best, ids, id));
          q = f32x4.add(q, ofBest(best + 16, ids + 16, id));
          r = f32x4.add(r, ofBest(best + 32, ids + 32, id));
          s = f32x4.add(s, ofBest(best + 48, ids + 48, id));
        }
        ofA = f32x4.add(ofA, f32x4.mul(p, v128.load(w + by)));
        ofB = f32x4.add(ofB, f32x4.mul(q, v128.load(w + by, 16)));
        ofC = f32x4.add(ofC, f32x4.mul(r, v128.load(w + by, 32)));
        ofD = f32x4.add(ofD, f32x4.mul(s, v128.load(w + by, 48)));
        addTo(ofW + by, f32x4.mul(p, a));
        addTo(ofW + by + 16, f32x4.mul(q, b));
        addTo(ofW + by + 32, f32x4.mul(r, c));
        addTo(ofW + by + 48, f32x4.mul(s, d));
      }
      addTo(ofX + own, ofA);
      addTo(ofX + own + 16, ofB);
      addTo(ofX + own + 32, ofC);
      addTo(ofX + own + 48, ofD);
    }
  }
}

/** Backward of `pullMessages`. */
export function pullGrads(
  list: usize,
  count: i32,
  shares: usize,
  x: usize,
  w: usize,
  grads: usize,
  chosen: usize,
  ofX: usize,
  ofW: usize,
): void {
  const outWidth = chosen ? 2 * width : width;
  for (let i = 0; i < count; i++) {
    const from = number(list, i);
    const watched = from == first || from == second;
    const begin = number(offsets, from);
    const end = number(offsets, from + 1);
    for (let channel: usize = 0; channel < width; channel += block) {
      const to = grads + <usize>i * outWidth + channel;
      const best = to + width;
      const ids = chosen + <usize>i * width + channel;
      const a = v128.load(to);
      const b = v128.load(to, 16);
      const c = v128.load(to, 32);
      const d = v128.load(to, 48);
      for (let edge = begin; edge < end; edge++) {
        const tail = number(tails, edge);
        const row = number(places, tail);
        if (row < 0) continue;
        const relation = number(relations, edge);
        if (watched && isHidden(from, tail, relation)) continue;
        const at = <usize>row * width + channel;
        const by = <usize>relation * width + channel;
        const share = v128.load32_splat(shares + ((<usize>edge) << 2));
        let p = a;
        let q = b;
        let r = f32x4.mul(c, share);
        let s = f32x4.mul(d, share);
        if (chosen) {
          const id = i32x4.splat(edge + 1);
          p = f32x4.add(p, ofBest(best, ids, id));
          q = f32x4.add(q, ofBest(best + 16, ids + 16, id));
          r = f32x4.add(r, ofBest(best + 32, ids + 32, id));
          s = f32x4.add(s, ofBest(best + 48, ids + 48, id));
        }
        addTo(ofX + at, f32x4.mul(p, v128.load(w + by)));
        addTo(ofX + at + 16, f32x4.mul(q, v128.load(w + by, 16)));
        addTo(ofX + at + 32, f32x4.mul(r, v128.load(w + by, 32)));
        addTo(ofX + at + 48, f32x4.mul(s, v128.load(w + by, 48)));
        addTo(ofW + by, f32x4.mul(p, v128.load(x + at)));
        addTo(ofW + by + 16, f32x4.mul(q, v128.load(x + at, 16)));
        addTo(ofW + by + 32, f32x4.mul(r, v128.load(x + at, 32)));
        addTo(ofW + by + 48, f32x4.mul(s, v128.load(x + at, 48)));
      }
    }
  }
}

/** `out[i] = b[i] + Σⱼ a[i · k + j] · z[j]` for `count` rows. @param k a multiple of 4 */
export function messageWeights(a: usize, b: usize, z: usize, count: i32, k: i32, out: usize): void {
  const bytes = (<usize>k) << 2;
  for (let i = 0; i < count; i++, a += bytes, b += 4, out += 4) {
    let sum = f32x4.splat(0);
    for (let at: usize = 0; at < bytes; at += 16) sum = f32x4.add(sum, f32x4.mul(v128.load(a + at), v128.load(z + at)));
    const pairs = f32x4.add(sum, v128.shuffle<i32>(sum, sum, 2, 3, 0, 1));
    store<f32>(out, load<f32>(b) + f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1));
  }
}

/** Backward pass: adds to `ofA`, `ofB` and `ofZ`; `ofW` is zero then. */
export function messageWeightGrads(
  ofW: usize,
  a: usize,
  z: usize,
  count: i32,
  k: i32,
  ofA: usize,
  ofB: usize,
  ofZ: usize,
): void {
  const bytes = (<usize>k) << 2;
  for (let i = 0; i < count; i++, ofW += 4, ofB += 4, a += bytes, ofA += bytes) {
    const grad = load<f32>(ofW);
    // Relations that no walk took.
    if (grad == 0) continue;
    store<f32>(ofB, load<f32>(ofB) + grad);
    const own = f32x4.splat(grad);
    for (let at: usize = 0; at < bytes; at += 16) {
      addTo(ofA + at, f32x4.mul(own, v128.load(z + at)));
      addTo(ofZ + at, f32x4.mul(own, v128.load(a + at)));
    }
    store<f32>(ofW, 0);
  }
}

/** `out[i] = sign(x) · ln(1 + |x|)` of `x = from[i]`; relative error below 4e-7. @param count a multiple of 4 */
export function slogAll(out: usize, from: usize, count: i32): void {
  const end = out + ((<usize>count) << 2);
  for (; out < end; out += 16, from += 16) v128.store(out, slog4(v128.load(from)));
}

/** Backward of `slogAll`, in place: `g[i] /= 1 + |x[i]|`. */
export function slogGrad(g: usize, x: usize, count: i32): void {
  const one = f32x4.splat(1);
  const end = g + ((<usize>count) << 2);
  for (; g < end; g += 16, x += 16) {
    v128.store(g, f32x4.div(v128.load(g), f32x4.add(one, f32x4.abs(v128.load(x)))));
  }
}

/**
 * sign(x) ln(1 + |x|), relative error below 4e-7. With u = 1 + |x| rounded, ln u · |x| / (u − 1) mends what the rounding took; u is 2^e m with m
 * in [√½, √2], and ln m = 2 artanh s with s = (m − 1) / (m + 1) by its series to the 9th power.
 */
function slog4(x: v128): v128 {
  const one = f32x4.splat(1);
  const size = f32x4.abs(x);
  const u = f32x4.add(size, one);
  // One in the exponent where the mantissa is √2 or more.
  const up = i32x4.sub(u, i32x4.splat(0x3f3504f3));
  const exponent = i32x4.shr_s(up, 23);
  const m = i32x4.sub(u, i32x4.shl(exponent, 23));
  const s = f32x4.div(f32x4.sub(m, one), f32x4.add(m, one));
  const square = f32x4.mul(s, s);
  let series = f32x4.splat(0.2222222222222222);
  series = f32x4.add(f32x4.mul(series, square), f32x4.splat(0.2857142857142857));
  series = f32x4.add(f32x4.mul(series, square), f32x4.splat(0.4));
  series = f32x4.add(f32x4.mul(series, square), f32x4.splat(0.6666666666666666));
  series = f32x4.add(f32x4.mul(series, square), f32x4.splat(2));
  const log = f32x4.add(
    f32x4.mul(f32x4.convert_i32x4_s(exponent), f32x4.splat(0.6931471805599453)),
    f32x4.mul(series, s),
  );
  const rounded = f32x4.sub(u, one);
  const mended = f32x4.div(f32x4.mul(log, size), rounded);
  // Too small to change 1; NaN is not.
  const value = v128.bitselect(size, mended, f32x4.eq(rounded, f32x4.splat(0)));
  return v128.or(value, v128.and(x, i32x4.splat(<i32>0x80000000)));
}
