import { describe, expect, test } from '@jest/globals';
import { percentiles, studentInterval, wilsonAt } from '../../../src/metrics/intervals.js';

/** P(T < t) of Student's t, by Simpson's rule: with t = √ν tan θ its density is a power of cos θ. */
function chanceBelow(t: number, freedom: number): number {
  const integral = (to: number) => {
    const steps = 2000;
    const at = (i: number) => Math.cos((to * i) / steps) ** (freedom - 1);
    let sum = at(0) + at(steps);
    for (let i = 1; i < steps; i++) sum += (i % 2 === 1 ? 4 : 2) * at(i);
    return (sum * to) / steps / 3;
  };
  return 0.5 + 0.5 * (integral(Math.atan(t / Math.sqrt(freedom))) / integral(Math.PI / 2));
}

describe('the interval of a mean over seeds', () => {
  const halfOf = (n: number) => {
    const values = Array.from({ length: n }, (_, i) => i);
    const { value, low, high } = studentInterval(values);
    const variance = values.reduce((sum, one) => sum + (one - value) ** 2, 0) / (n - 1);
    expect(high - value).toBeCloseTo(value - low, 10);
    return (high - value) / Math.sqrt(variance / n);
  };

  test.each(Array.from({ length: 30 }, (_, i) => i + 1))(
    'takes the 97.5 %% point of t, %d degrees of freedom',
    (freedom) => {
      expect(Math.abs(chanceBelow(halfOf(freedom + 1), freedom) - 0.975)).toBeLessThan(5e-5);
    },
  );

  test('has no ends with one seed', () =>
    expect(studentInterval([0.5])).toEqual({ value: 0.5, low: NaN, high: NaN, n: 1 }));

  test('takes the last one where there are more', () => expect(halfOf(60)).toBeCloseTo(halfOf(31), 10));
});

test('the middle 95 % lie between places that are weighed where they are none', () => {
  const drawn = (count: number) => Float64Array.from({ length: count }, (_, i) => i * 10);
  expect(percentiles(drawn(201))).toEqual({ low: expect.closeTo(50, 9), high: expect.closeTo(1950, 9) });
  expect(percentiles(drawn(3))).toEqual({ low: expect.closeTo(0.5, 9), high: expect.closeTo(19.5, 9) });
});

test('a share at an edge has Wilson’s interval', () => {
  // Shares that are 1.96 standard errors from the edge.
  for (const clusters of [1, 10, 100]) {
    const { low, high } = wilsonAt(1, clusters);
    expect([high, (1 - low) / Math.sqrt((low * (1 - low)) / clusters)]).toEqual([1, expect.closeTo(1.959964, 6)]);
    expect(wilsonAt(0, clusters)).toEqual({ low: 0, high: expect.closeTo(1 - low, 12) });
  }
});
