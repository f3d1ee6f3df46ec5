import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { execPath } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { Arena } from '../../../src/simd/arena.js';

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
    const kernels = new URL('../../../dist/src/simd/kernels.js', import.meta.url);
    expect(existsSync(kernels)).toBe(true);
    const code = `await import('${kernels.href}').then(({ openKernels }) => openKernels({})).catch(({ message, hint }) => console.log(message, hint))`;
    const { stdout } = spawnSync(execPath, ['--jitless', '--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(stdout).toContain('expected WebAssembly SIMD, got a Node without WebAssembly');
    expect(stdout).toContain('without --jitless');
  });
});
