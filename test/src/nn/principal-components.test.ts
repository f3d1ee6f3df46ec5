import { describe, expect, test } from '@jest/globals';
import { principalComponents, scaledToMeanNorm } from '../../../src/nn/principal-components.js';
import { Rng } from '../../../src/run/seeds.js';

describe('tables', () => {
  const whole = (table: Float32Array, width: number) => (begin: number, end: number) =>
    table.subarray(begin * width, end * width);
  const column = (rows: Float32Array, dim: number, c: number) =>
    Array.from({ length: rows.length / dim }, (_, i) => rows[i * dim + c]!);
  const sumOfSquares = (values: readonly number[]) => values.reduce((sum, value) => sum + value * value, 0);

  describe('principal components', () => {
    // Points (10, −2) + a·(3, 4)/5 + b·(−4, 3)/5: variance of a is 10 times that of b.
    const long = [-5, -5, 5, 5];
    const short = [-Math.sqrt(2.5), Math.sqrt(2.5), -Math.sqrt(2.5), Math.sqrt(2.5)];
    const table = Float32Array.from(
      long.flatMap((a, i) => [10 + (3 * a - 4 * short[i]!) / 5, -2 + (4 * a + 3 * short[i]!) / 5]),
    );

    test('find the axes of a table made by hand, the longest first', () => {
      const { rows, dim } = principalComponents(whole(table, 2), 4, 2, 2);
      expect(dim).toBe(2);
      const first = column(rows, 2, 0);
      // All rows have the same norm, so scaling divides by √(25 + 2.5).
      const scale = Math.sqrt(27.5);
      const sign = Math.sign(first[0]!) * Math.sign(long[0]!);
      first.forEach((value, i) => expect(sign * value).toBeCloseTo(long[i]! / scale, 5));
      expect(sumOfSquares(first) / sumOfSquares(column(rows, 2, 1))).toBeCloseTo(10, 3);
    });

    test('of a lower number keep the variance of the longest axes, and are no more than the table is wide', () => {
      const { rows, dim } = principalComponents(whole(table, 2), 4, 2, 1);
      expect(dim).toBe(1);
      rows.forEach((value) => expect(Math.abs(value)).toBeCloseTo(1, 5));
      expect(principalComponents(whole(table, 2), 4, 2, 64).dim).toBe(2);
    });

    test('of a table in blocks are those of the whole: uncorrelated, and all the variance is there', () => {
      const width = 3;
      const numRows = 9001;
      const rng = Rng.named(1, 'test/components');
      const wide = Float32Array.from(
        { length: numRows * width },
        (_, i) => (1 + (i % width)) * rng.normal() + (i % width),
      );
      for (let i = 0; i < wide.length; i += width) wide[i + 2]! += 2 * wide[i]!;
      const asked: number[] = [];
      const block = (begin: number, end: number) => {
        asked.push(end - begin);
        return whole(wide, width)(begin, end);
      };
      const { rows } = principalComponents(block, numRows, width, width);
      expect(Math.max(...asked)).toBeLessThan(numRows);
      const columns = [0, 1, 2].map((c) => column(rows, width, c));
      const total = sumOfSquares(columns.flat());
      columns.forEach((one, c) => {
        expect(Math.abs(one.reduce((sum, value) => sum + value, 0)) / numRows).toBeLessThan(1e-4);
        columns.slice(c + 1).forEach((other) => {
          const product = one.reduce((sum, value, i) => sum + value * other[i]!, 0);
          expect(Math.abs(product) / total).toBeLessThan(1e-4);
        });
      });
      // The ratio of the total variance to the squared mean norm survives a rotation and a scaling.
      const means = [0, 1, 2].map((c) => column(wide, width, c).reduce((sum, value) => sum + value, 0) / numRows);
      const centred = wide.map((value, i) => value - means[i % width]!);
      const norms = Array.from({ length: numRows }, (_, i) =>
        Math.hypot(...centred.subarray(i * width, (i + 1) * width)),
      );
      const meanNorm = norms.reduce((sum, norm) => sum + norm, 0) / numRows;
      expect((total * meanNorm ** 2) / sumOfSquares(Array.from(centred))).toBeCloseTo(1, 4);
    });

    test('are equal on every call', () => {
      const once = principalComponents(whole(table, 2), 4, 2, 2);
      expect(principalComponents(whole(table, 2), 4, 2, 2)).toEqual(once);
    });
  });

  describe('scaling to a mean norm of one', () => {
    test('divides by the mean length of the rows', () => {
      const scaled = scaledToMeanNorm(Float32Array.from([3, 4, 0, 15]), 2);
      [0.3, 0.4, 0, 1.5].forEach((value, i) => expect(scaled[i]).toBeCloseTo(value, 6));
    });

    test('leaves a table of zeros alone', () => {
      expect(Array.from(scaledToMeanNorm(new Float32Array(4), 2))).toEqual([0, 0, 0, 0]);
    });
  });
});
