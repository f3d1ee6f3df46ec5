import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { execPath } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import { Arena } from '../../../src/simd/arena.js';
import { openKernels } from '../../../src/simd/kernels.js';

describe('the arena', () => {
  test('holds arrays apart, aligned for the widest loads, while its memory grows', () => {
    const arena = new Arena();
    const first = arena.float32(5).fill(1);
    const big = arena.float64(100_000).fill(2);
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
    expect(() => new Arena().float64(2 ** 29)).toThrow('at most 4 GiB of arrays for SIMD kernels, got 4.0 GiB');
  });
});

describe('the kernels', () => {
  test.each([1, 3, 4, 8, 31, 100])('take distances of rows of %i values', (dim) => {
    const arena = new Arena();
    const { absoluteDistances } = openKernels(arena.memory);
    const rng = new Rng(dim);
    const query = arena.float32(dim);
    const rows = arena.float32(7 * dim);
    for (const array of [query, rows]) array.forEach((_, k) => (array[k] = rng.normal()));
    const ids = arena.int32(4);
    ids.set([6, 0, 3, 3]);
    const out = arena.float32(5).fill(-1);
    absoluteDistances(query.byteOffset, rows.byteOffset, ids.byteOffset, 4, dim, out.byteOffset);
    const expected = Array.from(ids, (row) => query.reduce((sum, q, k) => sum + Math.abs(q - rows[row * dim + k]!), 0));
    expected.forEach((distance, i) => expect(out[i]).toBeCloseTo(distance, 4));
    expect(out[4]).toBe(-1);
  });

  test('say what is missing where Node runs without WebAssembly', () => {
    // Built: node loads no TypeScript.
    const kernels = new URL('../../../dist/src/simd/kernels.js', import.meta.url);
    expect(existsSync(kernels)).toBe(true);
    const code = `await import('${kernels.href}').then(({ openKernels }) => openKernels({})).catch(({ message, hint }) => console.log(message, hint))`;
    const { stdout } = spawnSync(execPath, ['--jitless', '--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(stdout).toContain('expected WebAssembly SIMD, got a Node without WebAssembly');
    expect(stdout).toContain('without --jitless');
  });
});
