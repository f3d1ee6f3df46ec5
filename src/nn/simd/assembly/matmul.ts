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
  const rowBytes = (<usize>aRow) << 2;
  const stepBytes = (<usize>aCol) << 2;
  const lineBytes = (<usize>n) << 2;
  const spare = panel + ((<usize>k) << 5);
  for (let j = 0; j < n; j += 8) {
    const columns = min(8, n - j);
    pack(b + ((<usize>(j * bCol)) << 2), bRow, bCol, k, columns, panel);
    const out = c + ((<usize>j) << 2);
    let i = 0;
    if (columns === 8) {
      for (; i + 4 <= m; i += 4) {
        fourRows(a + <usize>i * rowBytes, rowBytes, stepBytes, panel, k, out + <usize>i * lineBytes, lineBytes, add);
      }
    }
    for (; i < m; i++) {
      oneRow(a + <usize>i * rowBytes, stepBytes, panel, k, spare);
      const line = out + <usize>i * lineBytes;
      for (let x = 0; x < columns; x++) {
        const at = line + ((<usize>x) << 2);
        const sum = load<f32>(spare + ((<usize>x) << 2));
        store<f32>(at, add ? load<f32>(at) + sum : sum);
      }
    }
  }
}

function pack(b: usize, bRow: i32, bCol: i32, k: i32, columns: i32, panel: usize): void {
  for (let p = 0; p < k; p++) {
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

function put(at: usize, value: v128, add: i32): void {
  v128.store(at, add ? f32x4.add(v128.load(at), value) : value);
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
