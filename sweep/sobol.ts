/** Quasi-random points: Sobol's sequence, scrambled by a seed. */
import type { Rng } from '../src/run/seeds.js';

/**
 * Of dimensions 2 to 32, a row each: the inner coefficients of a primitive polynomial as bits, then the first direction
 * numbers, as many as its degree.
 * @source Joe and Kuo 2008, "Constructing Sobol sequences with better two-dimensional projections", new-joe-kuo-6.21201
 */
const published: readonly (readonly number[])[] = [
  [0, 1],
  [1, 1, 3],
  [1, 1, 3, 1],
  [2, 1, 1, 1],
  [1, 1, 1, 3, 3],
  [4, 1, 3, 5, 13],
  [2, 1, 1, 5, 5, 17],
  [4, 1, 1, 5, 5, 5],
  [7, 1, 1, 7, 11, 19],
  [11, 1, 1, 5, 1, 1],
  [13, 1, 1, 1, 3, 11],
  [14, 1, 3, 5, 5, 31],
  [1, 1, 3, 3, 9, 7, 49],
  [13, 1, 1, 1, 15, 21, 21],
  [16, 1, 3, 1, 13, 27, 49],
  [19, 1, 1, 1, 15, 7, 5],
  [22, 1, 3, 1, 15, 13, 25],
  [25, 1, 1, 5, 5, 19, 61],
  [1, 1, 3, 7, 11, 23, 15, 103],
  [4, 1, 3, 7, 13, 13, 15, 69],
  [7, 1, 1, 3, 13, 7, 35, 63],
  [8, 1, 3, 5, 9, 1, 25, 53],
  [14, 1, 3, 1, 13, 9, 35, 107],
  [19, 1, 3, 1, 5, 27, 61, 31],
  [21, 1, 1, 5, 11, 19, 41, 61],
  [28, 1, 3, 5, 3, 3, 13, 69],
  [31, 1, 1, 7, 13, 1, 19, 1],
  [32, 1, 3, 7, 5, 13, 19, 59],
  [37, 1, 1, 3, 9, 25, 29, 41],
  [41, 1, 3, 5, 13, 23, 1, 55],
  [42, 1, 3, 7, 3, 13, 59, 17],
];

/** Maximum dimensions: the rows of `published` and the first one. */
export const mostSobolDimensions = published.length + 1;

const bits = 32;

/**
 * Points of the sequence by their number, so that none depends on how many were asked for before. Unscrambled, the first
 * 2^k points put one into each of the 2^k equal parts of every dimension; a scramble keeps that.
 * @param dimensions 1 to `mostSobolDimensions`
 * @param rng scrambles by a random linear matrix and a digital shift; without it point 0 is the origin
 * @returns the point of a number from 0 to 2^32 − 1, each coordinate in [0, 1) [dimensions]
 * @source Bratley and Fox 1988 (algorithm 659); Matoušek 1998, "On the L2-discrepancy for anchored boxes" (scramble)
 */
export function sobolSequence(dimensions: number, rng?: Rng): (index: number) => number[] {
  const columns = Array.from({ length: dimensions }, (_, d) => {
    const directions = directionNumbers(d);
    if (!rng) return { directions, shift: 0 };
    const matrix = lowerTriangular(rng);
    return { directions: directions.map((direction) => product(matrix, direction)), shift: rng.uint32() };
  });
  return (index) =>
    columns.map(({ directions, shift }) => {
      let point = shift;
      for (let bit = 0; bit < bits; bit++) if ((gray(index) >>> bit) & 1) point ^= directions[bit]!;
      return (point >>> 0) / 2 ** bits;
    });
}

const gray = (index: number) => index ^ (index >>> 1);

/** Digits as fractions of 2^32: the highest bit is the first digit. */
function directionNumbers(dimension: number): number[] {
  const all = Array.from({ length: bits }, (_, i) => (1 << (bits - 1 - i)) >>> 0);
  if (dimension === 0) return all;
  const [inner, ...first] = published[dimension - 1]!;
  const degree = first.length;
  first.forEach((value, i) => (all[i] = (value << (bits - 1 - i)) >>> 0));
  for (let i = degree; i < bits; i++) {
    let value = all[i - degree]! ^ (all[i - degree]! >>> degree);
    for (let k = 1; k < degree; k++) if ((inner! >>> (degree - 1 - k)) & 1) value ^= all[i - k]!;
    all[i] = value >>> 0;
  }
  return all;
}

/** Rows from the first digit on: random bits before the diagonal, 1 on it. */
function lowerTriangular(rng: Rng): number[] {
  return Array.from({ length: bits }, (_, row) => {
    const diagonal = 1 << (bits - 1 - row);
    const before = row === 0 ? 0 : -1 << (bits - row);
    return ((rng.uint32() & before) | diagonal) >>> 0;
  });
}

/** Product of a matrix and a vector of bits, modulo 2. */
function product(rows: readonly number[], vector: number): number {
  return rows.reduce((sum, row, i) => sum | (parity(row & vector) << (bits - 1 - i)), 0) >>> 0;
}

function parity(word: number): number {
  let folded = word;
  for (let shift = 16; shift > 0; shift >>= 1) folded ^= folded >>> shift;
  return folded & 1;
}
