// @ts-nocheck AssemblyScript: its compiler checks.
/** Products of small matrices, float32. */

/**
 * Product of matrices of any strides: `c[i · n + j] = Σₚ a[i · aRow + p · aCol] · b[p · bRow + j · bCol]`. The sum of an element runs in
 * one order whatever `m` and `n` are, so a row's results do not depend on the other rows.
 * @param c float32 [m, n]
 * @param panel float32 [8 · k + 32], scratch
 * @param add 1: the product is added to what is in `c`
 */
export function matMul(
  a: usize,
  aRow: i32,
  aCol: i32,
  b: usize,
  bRow: i32,
  bCol: i32,
  c: usize,
  m: i32,
  k: i32,
  n: i32,
  panel: usize,
  add: i32,
): void {
  product(a, (<usize>aRow) << 4, (<usize>aRow) << 2, (<usize>aCol) << 2, b, bRow, bCol, c, m, k, n, panel, add);
}

/**
 * aᵀ · b for rows of `a` [k, m] and `b` [k, n] that lie side by side.
 * @param turned float32 [k, m rounded up to a multiple of 4], scratch @param panel as above
 */
export function turnedMatMul(
  a: usize,
  b: usize,
  c: usize,
  m: i32,
  k: i32,
  n: i32,
  turned: usize,
  panel: usize,
  add: i32,
): void {
  fourColumns(turned, a, k, m);
  product(turned, (<usize>k) << 4, 4, 16, b, n, 1, c, m, k, n, panel, add);
}

/** Columns of `a` [k, m] four by four, each four [k, 4]; a line of the cache is read once. */
function fourColumns(out: usize, a: usize, k: i32, m: i32): void {
  const row = (<usize>m) << 2;
  const four = (<usize>k) << 4;
  let i = 0;
  for (; i + 16 <= m; i += 16, a += 64, out += 4 * four) {
    for (let p = 0, from = a, to = out; p < k; p++, from += row, to += 16) {
      v128.store(to, v128.load(from));
      v128.store(to + four, v128.load(from, 16));
      v128.store(to + 2 * four, v128.load(from, 32));
      v128.store(to + 3 * four, v128.load(from, 48));
    }
  }
  for (; i < m; i += 4, a += 16) {
    const columns = (<usize>min(4, m - i)) << 2;
    for (let p = 0, from = a; p < k; p++, from += row, out += 16) {
      for (let x: usize = 0; x < columns; x += 4) store<f32>(out + x, load<f32>(from + x));
    }
  }
}

/** @param four bytes from four rows of `a` to the next four @param row bytes from row to row of the four @param step bytes along a row */
function product(
  a: usize,
  four: usize,
  row: usize,
  step: usize,
  b: usize,
  bRow: i32,
  bCol: i32,
  c: usize,
  m: i32,
  k: i32,
  n: i32,
  panel: usize,
  add: i32,
): void {
  const line = (<usize>n) << 2;
  const spare = panel + ((<usize>k) << 5);
  let j = 0;
  // Few rows do not repay packing.
  if (m < 4 && bCol === 1) {
    for (; j + 32 <= n; j += 32) {
      const at = (<usize>j) << 2;
      for (let i = 0; i < m; i++) {
        wideRow(a + <usize>i * row, step, b + at, (<usize>bRow) << 2, k, c + <usize>i * line + at, add);
      }
    }
  }
  for (; j < n; j += 8) {
    const columns = min(8, n - j);
    pack(b + ((<usize>(j * bCol)) << 2), bRow, bCol, k, columns, panel);
    const out = c + ((<usize>j) << 2);
    let i = 0;
    for (; i + 4 <= m; i += 4) {
      const from = a + <usize>(i >> 2) * four;
      const to = out + <usize>i * line;
      if (columns === 8) {
        fourRows(from, row, step, panel, k, to, line, add);
      } else {
        fourRows(from, row, step, panel, k, spare, 32, 0);
        for (let y: usize = 0; y < 4; y++) putSome(to + y * line, spare + (y << 5), columns, add);
      }
    }
    for (; i < m; i++) {
      oneRow(a + <usize>(i >> 2) * four + <usize>(i & 3) * row, step, panel, k, spare);
      putSome(out + <usize>i * line, spare, columns, add);
    }
  }
}

/** The product's 8 columns from `b` on, zeros behind the last. */
function pack(b: usize, bRow: i32, bCol: i32, k: i32, columns: i32, panel: usize): void {
  let p = 0;
  if (bRow === 1 && columns === 8) {
    const column = (<usize>bCol) << 2;
    for (; p + 4 <= k; p += 4) {
      const from = b + ((<usize>p) << 2);
      const to = panel + ((<usize>p) << 5);
      turn(from, column, to);
      turn(from + 4 * column, column, to + 16);
    }
  }
  for (; p < k; p++) {
    const from = b + ((<usize>(p * bRow)) << 2);
    const to = panel + ((<usize>p) << 5);
    if (bCol === 1 && columns === 8) {
      v128.store(to, v128.load(from));
      v128.store(to, v128.load(from, 16), 16);
      continue;
    }
    for (let x = 0; x < 8; x++) {
      store<f32>(to + ((<usize>x) << 2), x < columns ? load<f32>(from + ((<usize>(x * bCol)) << 2)) : 0);
    }
  }
}

/** Four columns of four values into four rows of 8. */
function turn(from: usize, column: usize, to: usize): void {
  const r0 = v128.load(from);
  const r1 = v128.load(from + column);
  const r2 = v128.load(from + 2 * column);
  const r3 = v128.load(from + 3 * column);
  const low01 = v128.shuffle<i32>(r0, r1, 0, 4, 1, 5);
  const high01 = v128.shuffle<i32>(r0, r1, 2, 6, 3, 7);
  const low23 = v128.shuffle<i32>(r2, r3, 0, 4, 1, 5);
  const high23 = v128.shuffle<i32>(r2, r3, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<i64>(low01, low23, 0, 2));
  v128.store(to, v128.shuffle<i64>(low01, low23, 1, 3), 32);
  v128.store(to, v128.shuffle<i64>(high01, high23, 0, 2), 64);
  v128.store(to, v128.shuffle<i64>(high01, high23, 1, 3), 96);
}

function put(at: usize, value: v128, add: i32): void {
  v128.store(at, add ? f32x4.add(v128.load(at), value) : value);
}

function putSome(at: usize, values: usize, columns: i32, add: i32): void {
  for (let x: usize = 0; x < <usize>columns; x++) {
    const sum = load<f32>(values + (x << 2));
    store<f32>(at + (x << 2), add ? load<f32>(at + (x << 2)) + sum : sum);
  }
}

function fourRows(a: usize, row: usize, step: usize, panel: usize, k: i32, c: usize, line: usize, add: i32): void {
  let a0 = a;
  let a1 = a + row;
  let a2 = a1 + row;
  let a3 = a2 + row;
  let c00 = f32x4.splat(0);
  let c01 = c00;
  let c10 = c00;
  let c11 = c00;
  let c20 = c00;
  let c21 = c00;
  let c30 = c00;
  let c31 = c00;
  const end = panel + ((<usize>k) << 5);
  for (let at = panel; at < end; at += 32) {
    const b0 = v128.load(at);
    const b1 = v128.load(at, 16);
    const x0 = v128.load32_splat(a0);
    c00 = f32x4.add(c00, f32x4.mul(x0, b0));
    c01 = f32x4.add(c01, f32x4.mul(x0, b1));
    const x1 = v128.load32_splat(a1);
    c10 = f32x4.add(c10, f32x4.mul(x1, b0));
    c11 = f32x4.add(c11, f32x4.mul(x1, b1));
    const x2 = v128.load32_splat(a2);
    c20 = f32x4.add(c20, f32x4.mul(x2, b0));
    c21 = f32x4.add(c21, f32x4.mul(x2, b1));
    const x3 = v128.load32_splat(a3);
    c30 = f32x4.add(c30, f32x4.mul(x3, b0));
    c31 = f32x4.add(c31, f32x4.mul(x3, b1));
    a0 += step;
    a1 += step;
    a2 += step;
    a3 += step;
  }
  put(c, c00, add);
  put(c + 16, c01, add);
  c += line;
  put(c, c10, add);
  put(c + 16, c11, add);
  c += line;
  put(c, c20, add);
  put(c + 16, c21, add);
  c += line;
  put(c, c30, add);
  put(c + 16, c31, add);
}

function oneRow(a: usize, step: usize, panel: usize, k: i32, out: usize): void {
  let c0 = f32x4.splat(0);
  let c1 = c0;
  const end = panel + ((<usize>k) << 5);
  for (let at = panel; at < end; at += 32) {
    const x = v128.load32_splat(a);
    c0 = f32x4.add(c0, f32x4.mul(x, v128.load(at)));
    c1 = f32x4.add(c1, f32x4.mul(x, v128.load(at, 16)));
    a += step;
  }
  v128.store(out, c0);
  v128.store(out, c1, 16);
}

/** 32 columns of one row. @param line bytes from row to row of `b` */
function wideRow(a: usize, step: usize, b: usize, line: usize, k: i32, c: usize, add: i32): void {
  let c0 = f32x4.splat(0);
  let c1 = c0;
  let c2 = c0;
  let c3 = c0;
  let c4 = c0;
  let c5 = c0;
  let c6 = c0;
  let c7 = c0;
  for (let p = 0; p < k; p++, a += step, b += line) {
    const x = v128.load32_splat(a);
    c0 = f32x4.add(c0, f32x4.mul(x, v128.load(b)));
    c1 = f32x4.add(c1, f32x4.mul(x, v128.load(b, 16)));
    c2 = f32x4.add(c2, f32x4.mul(x, v128.load(b, 32)));
    c3 = f32x4.add(c3, f32x4.mul(x, v128.load(b, 48)));
    c4 = f32x4.add(c4, f32x4.mul(x, v128.load(b, 64)));
    c5 = f32x4.add(c5, f32x4.mul(x, v128.load(b, 80)));
    c6 = f32x4.add(c6, f32x4.mul(x, v128.load(b, 96)));
    c7 = f32x4.add(c7, f32x4.mul(x, v128.load(b, 112)));
  }
  put(c, c0, add);
  put(c + 16, c1, add);
  put(c + 32, c2, add);
  put(c + 48, c3, add);
  put(c + 64, c4, add);
  put(c + 80, c5, add);
  put(c + 96, c6, add);
  put(c + 112, c7, add);
}
