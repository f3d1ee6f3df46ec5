import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { execPath } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../../src/run/seeds.js';
import { Arena } from '../../../../src/nn/simd/arena.js';
import { openKernels } from '../../../../src/nn/simd/kernels.js';
import { normalValues } from '../../../../src/nn/parameters.js';

describe('the arena', () => {
  test('holds arrays apart, aligned for the widest loads, while its memory grows', () => {
    const arena = new Arena();
    const first = arena.float32(5).fill(1);
    const big = arena.float32(200_000).fill(2);
    const last = arena.int32(3).fill(3);
    expect([first, big, last].map(({ byteOffset }) => byteOffset % 64)).toEqual([0, 0, 0]);
    expect([...first]).toEqual([1, 1, 1, 1, 1]);
    expect(big.every((value) => value === 2)).toBe(true);
    expect(new Float32Array(arena.memory.buffer, first.byteOffset, 5)).toEqual(first);
    first[0] = 9;
    expect(new Float32Array(arena.memory.buffer, first.byteOffset, 1)[0]).toBe(9);
  });

  test('copies plain data, its arrays into its memory', () => {
    const arena = new Arena();
    const data = { name: 'x', parts: [Int32Array.of(1, 2)], nothing: undefined, table: { rows: Float32Array.of(3) } };
    const held = arena.hold(data);
    expect(held).toEqual(data);
    for (const array of [held.parts[0]!, held.table.rows])
      expect(array.buffer.byteLength).toBe(arena.memory.buffer.byteLength);
    held.parts[0]![0] = 7;
    expect(data.parts[0]![0]).toBe(1);
  });

  test('says so where arrays are more than its memory can hold', () => {
    expect(() => new Arena().float32(2 ** 30)).toThrow('at most 4 GiB of arrays for SIMD kernels, got 4.0 GiB');
  });
});

describe('the kernels', () => {
  test('say what is missing where Node runs without WebAssembly', () => {
    // Built: node loads no TypeScript.
    const kernels = new URL('../../../../dist/src/nn/simd/kernels.js', import.meta.url);
    expect(existsSync(kernels)).toBe(true);
    const code = `await import('${kernels.href}').then(({ openKernels }) => openKernels({})).catch(({ message, hint }) => console.log(message, hint))`;
    const { stdout } = spawnSync(execPath, ['--jitless', '--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(stdout).toContain('expected WebAssembly SIMD, got a Node without WebAssembly');
    expect(stdout).toContain('without --jitless');
  });

  test('take tanh, from end to end', () => {
    const arena = new Arena();
    const kernels = openKernels(arena.memory);
    const x = arena.hold(Float32Array.from({ length: 4004 }, (_, i) => (i - 2002) / 130));
    const expected = Array.from(x, Math.tanh);
    kernels.tanhAll(x.byteOffset, x.length);
    expect(Math.max(...expected.map((value, i) => Math.abs(value - x[i]!)))).toBeLessThan(3e-7);
    const far = arena.hold(Float32Array.of(-Infinity, 1e30, 0, NaN));
    kernels.tanhAll(far.byteOffset, 4);
    expect([...far.subarray(0, 3)]).toEqual([-1, 1, 0]);
    expect(far[3]).toBeNaN();
  });

  test('take signed logarithms, as accurate as float32 is, and back', () => {
    const arena = new Arena();
    const kernels = openKernels(arena.memory);
    const sizes = [0, 1e-30, 1e-9, 3e-4, 0.1, 0.4142, 0.7, 1, 1.5, 7, 1e3, 1e9, 3e30].flatMap((x) => [x, -x]);
    const values = [...sizes, Infinity, NaN, ...Array.from({ length: 4 }, (_, i) => i / 3)];
    const table = arena.float32(values.length);
    table.set(values);
    const [out, grads] = [arena.float32(32), arena.float32(32).fill(2)];
    kernels.slogAll(out.byteOffset, table.byteOffset, 32);
    kernels.slogGrad(grads.byteOffset, table.byteOffset, 32);
    table.forEach((x, i) => {
      const wanted = Math.sign(x) * Math.log1p(Math.abs(x));
      if (Number.isFinite(wanted)) expect(Math.abs(out[i]! - wanted)).toBeLessThanOrEqual(4e-7 * Math.abs(wanted));
      else expect(out[i]).toBeNaN();
      if (Number.isNaN(x)) expect(grads[i]).toBeNaN();
      else expect(grads[i]).toBeCloseTo(2 / (1 + Math.abs(x)), 6);
    });
  });
});

test.each([
  [1, 1, 1],
  [4, 8, 8],
  [3, 6, 40],
  [5, 7, 11],
  [9, 16, 50],
])(
  'products of %i × %i × %i are those of plain loops, for all strides, and the same bits for a row alone',
  (m, k, n) => {
    const arena = new Arena();
    const kernels = openKernels(arena.memory);
    const rng = Rng.named(0, 'test/matmul');
    const [a, b, c] = [m * k, k * n, m * n].map((size) => arena.hold(normalValues(rng, 1, size))) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    const panel = arena.float32(8 * k + 32).byteOffset;
    const before = c.slice();
    for (const [aRow, aCol, bRow, bCol, add] of [
      [k, 1, n, 1, 0],
      [1, m, n, 1, 1],
      [k, 1, 1, k, 0],
    ] as const) {
      c.set(before);
      kernels.matMul(a.byteOffset, aRow, aCol, b.byteOffset, bRow, bCol, c.byteOffset, m, k, n, panel, add);
      c.forEach((value, at) => {
        const [i, j] = [Math.floor(at / n), at % n];
        let sum = add ? before[at]! : 0;
        for (let p = 0; p < k; p++) sum += a[i * aRow + p * aCol]! * b[p * bRow + j * bCol]!;
        expect(value).toBeCloseTo(sum, 4);
      });
    }
    kernels.matMul(a.byteOffset, k, 1, b.byteOffset, n, 1, c.byteOffset, m, k, n, panel, 0);
    const last = c.slice((m - 1) * n);
    kernels.matMul(a.byteOffset + 4 * (m - 1) * k, k, 1, b.byteOffset, n, 1, c.byteOffset, 1, k, n, panel, 0);
    expect(c.slice(0, n)).toEqual(last);
  },
);

describe('rounded rows', () => {
  const numQueries = 8;
  const width = 24;

  /** Random vectors, and every distance as the kernels define it. */
  function vectors(norm: 1 | 2, numRows: number) {
    const rng = new Rng(numRows);
    const arena = new Arena();
    const [queries, rows] = [arena.int16(numQueries * width), arena.int16(numRows * width)];
    for (const array of [queries, rows]) array.forEach((_, i) => (array[i] = rng.integer(8000) - 4000));
    const squares = arena.int32(numRows);
    const at = (array: Int16Array, i: number) => [...array.subarray(i * width, (i + 1) * width)];
    squares.forEach((_, row) => (squares[row] = at(rows, row).reduce((sum, x) => sum + x * x, 0)));
    const distance = (query: number, row: number) =>
      at(queries, query).reduce((sum, q, k) => {
        const x = rows[row * width + k]!;
        return sum + (norm === 1 ? Math.abs(q - x) : x * x - 2 * q * x);
      }, 0);
    const distances = Array.from({ length: numQueries }, (_, q) => Array.from(squares, (_, row) => distance(q, row)));
    return { arena, queries, rows, squares, distances };
  }

  describe.each([1, 2] as const)('distances of rounded vectors under L%i', (norm) => {
    test.each([1, 2, 7, 64])('are exact next to each bound, %i rows', (numRows) => {
      const { arena, queries, rows, squares, distances } = vectors(norm, numRows);
      const kernels = openKernels(arena.memory);
      const nearer = arena.int32(numQueries).fill(100);
      const [lows, highs] = [arena.int32(numQueries), arena.int32(numQueries)];
      const close = arena.int32(numQueries * numRows + 1).fill(-1);
      // Bounds that are distances themselves: one more or less would be seen.
      distances.forEach((of, query) => {
        const sorted = [...of].sort((a, b) => a - b);
        lows[query] = sorted[Math.floor(numRows / 3)]!;
        highs[query] = sorted[Math.floor(numRows / 2)]!;
      });
      const offsets = [queries, rows, squares, lows, highs, nearer, close].map(({ byteOffset }) => byteOffset);
      const [q, r, s, low, high, n, c] = offsets as [number, number, number, number, number, number, number];
      const found = kernels.countNearer(norm, q, numQueries, r, s, numRows, width * 2, low, high, n, c);
      const expected = distances.flatMap((of, query) =>
        of.flatMap((d, row) => (d >= lows[query]! && d <= highs[query]! ? [query * 65536 + row] : [])),
      );
      expect([...close.subarray(0, found)].sort((a, b) => a - b)).toEqual(expected);
      expect(close[found]).toBe(-1);
      expect([...nearer]).toEqual(distances.map((of, query) => 100 + of.filter((d) => d < lows[query]!).length));

      const ids = arena.int32(numRows);
      ids.forEach((_, i) => (ids[i] = numRows - 1 - i));
      kernels.compareListed(norm, q + 5 * width * 2, r, s, ids.byteOffset, numRows, width * 2, lows[5]!, highs[5]!);
      const sides = distances[5]!.map((d) => (d < lows[5]! ? -1 : d > highs[5]! ? 1 : 0));
      expect([...ids]).toEqual(sides.reverse());
    });
  });
});
