/**
 * Messages along the edges of a graph, float32: every edge brings `x[from] ⊙ w[relation]`, 16 values of which the last 8 are scaled by the
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

/** See `../kernels.ts`. */
export function messageGraph(rows: usize, ends: usize, kinds: usize): void {
  offsets = rows;
  tails = ends;
  relations = kinds;
}

/** See `../kernels.ts`. */
export function messageHidden(one: i32, other: i32, own: i32, inverse: i32): void {
  first = one;
  second = other;
  forth = own;
  back = inverse;
}

/** Whether an edge of row `from` is left out. */
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

/** See `../kernels.ts`. */
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

/** See `../kernels.ts`. */
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

/** See `../kernels.ts`. */
export function messageSlopes(
  rows: usize,
  count: i32,
  shares: usize,
  x: usize,
  w: usize,
  slopes: usize,
  ofX: usize,
  ofW: usize,
  pulled: bool,
): void {
  for (let i = 0; i < count; i++) {
    const row = load<i32>(rows + ((<usize>i) << 2));
    const watched = row == first || row == second;
    const end = edgesEnd(row);
    for (let edge = load<i32>(offsets + ((<usize>row) << 2)); edge < end; edge++) {
      const tail = tailOf(edge);
      const relation = relationOf(edge);
      if (watched && isHidden(row, tail, relation)) continue;
      const from = <usize>(pulled ? tail : row) * rowBytes;
      const to = slopes + <usize>(pulled ? row : tail) * rowBytes;
      const by = <usize>relation * rowBytes;
      const share = v128.load32_splat(shares + ((<usize>edge) << 2));
      for (let at: usize = 0; at < rowBytes; at += 16) {
        let slope = v128.load(to + at);
        if (at >= 32) slope = f32x4.mul(slope, share);
        addTo(ofX + from + at, f32x4.mul(slope, v128.load(w + by + at)));
        addTo(ofW + by + at, f32x4.mul(slope, v128.load(x + from + at)));
      }
    }
  }
}
