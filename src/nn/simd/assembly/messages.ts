// @ts-nocheck AssemblyScript: its compiler checks.
/**
 * Message passing over a graph, float32: every edge brings `x[from] ⊙ w[relation]`, 16 values of which the last 8 are scaled by the
 * edge's share. Arguments named as arrays are byte offsets. Edges of row `i` are `offsets[i] .. offsets[i + 1] - 1`; those between `first`
 * and `second` are left out, of all relations or, where `forth` is not negative, of `forth` from `first` and of `back` from `second`.
 */

const rowBytes: usize = 64;

let offsets: usize = 0;
let tails: usize = 0;
let relations: usize = 0;
let first: i32 = -1;
let second: i32 = -1;
let forth: i32 = -1;
let back: i32 = -1;

/** The graph, once an instance. @param offsets int32 [entities + 1] @param tails int32 [edges], as is `relations` */
export function messageGraph(rows: usize, ends: usize, kinds: usize): void {
  offsets = rows;
  tails = ends;
  relations = kinds;
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

/** Returns whether an edge of row `from` is left out. */
function isHidden(from: i32, tail: i32, relation: i32): bool {
  if (from == first && tail == second) return forth < 0 || relation == forth;
  return from == second && tail == first && (forth < 0 || relation == back);
}

function edgesEnd(row: i32): i32 {
  return load<i32>(offsets + ((<usize>(row + 1)) << 2));
}

function tailOf(edge: i32): i32 {
  return load<i32>(tails + ((<usize>edge) << 2));
}

function relationOf(edge: i32): i32 {
  return load<i32>(relations + ((<usize>edge) << 2));
}

function addTo(at: usize, value: v128): void {
  v128.store(at, f32x4.add(v128.load(at), value));
}

/** `out[tail] += message` along the edges of some rows. @param rows int32 [count] @param shares float32 [edges] */
export function pushMessages(rows: usize, count: i32, shares: usize, x: usize, w: usize, out: usize): void {
  for (let i = 0; i < count; i++) {
    const row = load<i32>(rows + ((<usize>i) << 2));
    const from = x + <usize>row * rowBytes;
    const a = v128.load(from);
    const b = v128.load(from, 16);
    const c = v128.load(from, 32);
    const d = v128.load(from, 48);
    const watched = row == first || row == second;
    const end = edgesEnd(row);
    for (let edge = load<i32>(offsets + ((<usize>row) << 2)); edge < end; edge++) {
      const tail = tailOf(edge);
      const relation = relationOf(edge);
      if (watched && isHidden(row, tail, relation)) continue;
      const by = w + <usize>relation * rowBytes;
      const to = out + <usize>tail * rowBytes;
      const share = v128.load32_splat(shares + ((<usize>edge) << 2));
      addTo(to, f32x4.mul(a, v128.load(by)));
      addTo(to + 16, f32x4.mul(b, v128.load(by, 16)));
      addTo(to + 32, f32x4.mul(f32x4.mul(c, v128.load(by, 32)), share));
      addTo(to + 48, f32x4.mul(f32x4.mul(d, v128.load(by, 48)), share));
    }
  }
}

/** `out[row] += message` along the same edges walked the other way: from their tails. */
export function pullMessages(rows: usize, count: i32, shares: usize, x: usize, w: usize, out: usize): void {
  for (let i = 0; i < count; i++) {
    const row = load<i32>(rows + ((<usize>i) << 2));
    let a = f32x4.splat(0);
    let b = a;
    let c = a;
    let d = a;
    const watched = row == first || row == second;
    const end = edgesEnd(row);
    for (let edge = load<i32>(offsets + ((<usize>row) << 2)); edge < end; edge++) {
      const tail = tailOf(edge);
      const relation = relationOf(edge);
      if (watched && isHidden(row, tail, relation)) continue;
      const by = w + <usize>relation * rowBytes;
      const from = x + <usize>tail * rowBytes;
      const share = v128.load32_splat(shares + ((<usize>edge) << 2));
      a = f32x4.add(a, f32x4.mul(v128.load(from), v128.load(by)));
      b = f32x4.add(b, f32x4.mul(v128.load(from, 16), v128.load(by, 16)));
      c = f32x4.add(c, f32x4.mul(f32x4.mul(v128.load(from, 32), v128.load(by, 32)), share));
      d = f32x4.add(d, f32x4.mul(f32x4.mul(v128.load(from, 48), v128.load(by, 48)), share));
    }
    const to = out + <usize>row * rowBytes;
    addTo(to, a);
    addTo(to + 16, b);
    addTo(to + 32, c);
    addTo(to + 48, d);
  }
}

/** Backward of `pushMessages`: adds to `ofX` and `ofW`. @param grads by `out` */
export function pushGrads(
  rows: usize,
  count: i32,
  shares: usize,
  x: usize,
  w: usize,
  grads: usize,
  ofX: usize,
  ofW: usize,
): void {
  for (let i = 0; i < count; i++) {
    const row = load<i32>(rows + ((<usize>i) << 2));
    const from = x + <usize>row * rowBytes;
    const a = v128.load(from);
    const b = v128.load(from, 16);
    const c = v128.load(from, 32);
    const d = v128.load(from, 48);
    let ofA = f32x4.splat(0);
    let ofB = ofA;
    let ofC = ofA;
    let ofD = ofA;
    const watched = row == first || row == second;
    const end = edgesEnd(row);
    for (let edge = load<i32>(offsets + ((<usize>row) << 2)); edge < end; edge++) {
      const tail = tailOf(edge);
      const relation = relationOf(edge);
      if (watched && isHidden(row, tail, relation)) continue;
      const to = grads + <usize>tail * rowBytes;
      const by = <usize>relation * rowBytes;
      const share = v128.load32_splat(shares + ((<usize>edge) << 2));
      const p = v128.load(to);
      const q = v128.load(to, 16);
      const r = f32x4.mul(v128.load(to, 32), share);
      const s = f32x4.mul(v128.load(to, 48), share);
      ofA = f32x4.add(ofA, f32x4.mul(p, v128.load(w + by)));
      ofB = f32x4.add(ofB, f32x4.mul(q, v128.load(w + by, 16)));
      ofC = f32x4.add(ofC, f32x4.mul(r, v128.load(w + by, 32)));
      ofD = f32x4.add(ofD, f32x4.mul(s, v128.load(w + by, 48)));
      addTo(ofW + by, f32x4.mul(p, a));
      addTo(ofW + by + 16, f32x4.mul(q, b));
      addTo(ofW + by + 32, f32x4.mul(r, c));
      addTo(ofW + by + 48, f32x4.mul(s, d));
    }
    const own = ofX + <usize>row * rowBytes;
    addTo(own, ofA);
    addTo(own + 16, ofB);
    addTo(own + 32, ofC);
    addTo(own + 48, ofD);
  }
}

/** Backward of `pullMessages`. */
export function pullGrads(
  rows: usize,
  count: i32,
  shares: usize,
  x: usize,
  w: usize,
  grads: usize,
  ofX: usize,
  ofW: usize,
): void {
  for (let i = 0; i < count; i++) {
    const row = load<i32>(rows + ((<usize>i) << 2));
    const to = grads + <usize>row * rowBytes;
    const a = v128.load(to);
    const b = v128.load(to, 16);
    const c = v128.load(to, 32);
    const d = v128.load(to, 48);
    const watched = row == first || row == second;
    const end = edgesEnd(row);
    for (let edge = load<i32>(offsets + ((<usize>row) << 2)); edge < end; edge++) {
      const tail = tailOf(edge);
      const relation = relationOf(edge);
      if (watched && isHidden(row, tail, relation)) continue;
      const from = <usize>tail * rowBytes;
      const by = <usize>relation * rowBytes;
      const share = v128.load32_splat(shares + ((<usize>edge) << 2));
      const r = f32x4.mul(c, share);
      const s = f32x4.mul(d, share);
      addTo(ofX + from, f32x4.mul(a, v128.load(w + by)));
      addTo(ofX + from + 16, f32x4.mul(b, v128.load(w + by, 16)));
      addTo(ofX + from + 32, f32x4.mul(r, v128.load(w + by, 32)));
      addTo(ofX + from + 48, f32x4.mul(s, v128.load(w + by, 48)));
      addTo(ofW + by, f32x4.mul(a, v128.load(x + from)));
      addTo(ofW + by + 16, f32x4.mul(b, v128.load(x + from, 16)));
      addTo(ofW + by + 32, f32x4.mul(r, v128.load(x + from, 32)));
      addTo(ofW + by + 48, f32x4.mul(s, v128.load(x + from, 48)));
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

/** `out[i] = sign(x) · ln(1 + |x|)` of `x = table[index[i]]`, rows of 16 values; relative error below 4e-7. */
export function slogRows(out: usize, table: usize, index: usize, m: i32): void {
  for (let i = 0; i < m; i++, out += rowBytes) {
    const from = table + <usize>load<i32>(index + ((<usize>i) << 2)) * rowBytes;
    for (let at: usize = 0; at < rowBytes; at += 16) v128.store(out + at, slog4(v128.load(from + at)));
  }
}

/** Backward pass, written: `ofTable[index[i]] = g[i] / (1 + |x|)`. @param index each once */
export function slogGradRows(ofTable: usize, table: usize, g: usize, index: usize, m: i32): void {
  const one = f32x4.splat(1);
  for (let i = 0; i < m; i++, g += rowBytes) {
    const row = <usize>load<i32>(index + ((<usize>i) << 2)) * rowBytes;
    for (let at: usize = 0; at < rowBytes; at += 16) {
      const size = f32x4.abs(v128.load(table + row + at));
      v128.store(ofTable + row + at, f32x4.div(v128.load(g + at), f32x4.add(one, size)));
    }
  }
}

/** `table[index[i]] = 0`, rows of 16 values. */
export function zeroRows(table: usize, index: usize, m: i32): void {
  for (let i = 0; i < m; i++) {
    memory.fill(table + <usize>load<i32>(index + ((<usize>i) << 2)) * rowBytes, 0, rowBytes);
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
