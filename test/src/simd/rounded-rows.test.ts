import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import { Arena } from '../../../src/simd/arena.js';
import { openKernels } from '../../../src/simd/kernels.js';

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
