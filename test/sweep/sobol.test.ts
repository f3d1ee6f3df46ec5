import { expect, test } from '@jest/globals';
import { Rng } from '../../src/run/seeds.js';
import { mostSobolDimensions, sobolSequence } from '../../sweep/sobol.js';

// scipy 1.17, qmc.Sobol(d, scramble=False, bits=32).random(64)
const peers: readonly [dimensions: number, index: number, dimension: number, value: number][] = [
  [5, 4, 2, 0.625],
  [5, 4, 3, 0.875],
  [5, 7, 4, 0.125],
  [32, 7, 15, 0.125],
  [32, 45, 7, 0.234375],
  [32, 45, 15, 0.546875],
  [32, 45, 23, 0.328125],
  [32, 45, 31, 0.953125],
  [32, 63, 31, 0.921875],
];

test.each(peers)('of %i dimensions point %i has coordinate %i as the peer computes it', (count, index, d, value) => {
  expect(sobolSequence(count)(index)[d]).toBe(value);
});

test('the first point is the origin, the second the middle', () => {
  const point = sobolSequence(4);
  expect([point(0), point(1)]).toEqual([
    [0, 0, 0, 0],
    [0.5, 0.5, 0.5, 0.5],
  ]);
});

test.each([undefined, 1, 2, 3])(
  'the first 2^k points fill every part of every dimension once, scrambled by %p',
  (seed) => {
    const point = sobolSequence(mostSobolDimensions, seed === undefined ? undefined : Rng.named(seed, 'scramble'));
    for (const count of [2, 8, 64, 256]) {
      const points = Array.from({ length: count }, (_, i) => point(i));
      for (let d = 0; d < mostSobolDimensions; d++) {
        const parts = new Set(points.map((coordinates) => Math.floor(coordinates[d]! * count)));
        expect(parts.size).toBe(count);
      }
    }
  },
);

test('sixteen points put one into each of 4 × 4 boxes of the first two dimensions, scrambled or not', () => {
  for (const rng of [undefined, new Rng(7)]) {
    const point = sobolSequence(2, rng);
    const boxes = Array.from({ length: 16 }, (_, i) => point(i).map((x) => Math.floor(4 * x)));
    expect(new Set(boxes.map(String)).size).toBe(16);
  }
});

test('another seed gives other points, the same seed the same', () => {
  const first = (seed: number) => sobolSequence(3, Rng.named(seed, 'a'))(0);
  expect(first(1)).toEqual(first(1));
  expect(first(1)).not.toEqual(first(2));
});
