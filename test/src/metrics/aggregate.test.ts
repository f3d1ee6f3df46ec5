import { describe, expect, test } from '@jest/globals';
import {
  interquartileMean,
  optimalityGap,
  overRuns,
  performanceProfile,
  probabilityOfImprovement,
} from '../../../src/metrics/aggregate.js';

const scores = [
  [0.1, 0.5, 0.9],
  [0.2, 0.4, 1.3],
];

describe('scores over data sets', () => {
  test('have the mean of their middle half', () => {
    // A quarter of six, rounded down, is one at each end.
    expect(interquartileMean(scores)).toBeCloseTo((0.2 + 0.4 + 0.5 + 0.9) / 4, 12);
    expect(interquartileMean([[0.3]])).toBe(0.3);
  });

  test('are capped at the target in the gap', () => {
    expect(optimalityGap(scores)).toBeCloseTo(1 - (0.1 + 0.5 + 0.9 + 0.2 + 0.4 + 1) / 6, 12);
    expect(optimalityGap([[2]], 3)).toBe(1);
  });

  test('win, lose and tie by pairs of runs, data sets weighted alike', () => {
    expect(probabilityOfImprovement([[1, 1]], [[0, 1, 2]])).toBeCloseTo((1 + 0.5) / 3, 12);
    expect(probabilityOfImprovement([[1], [0, 0]], [[0], [1]])).toBe(0.5);
    expect(probabilityOfImprovement(scores, scores)).toBe(0.5);
    expect(() => probabilityOfImprovement(scores, [[1]])).toThrow(new RangeError('expected 2 data sets, got 1'));
  });

  test('fall in a profile from all to none', () => {
    expect(performanceProfile(scores, [0, 0.4, 1, 2])).toEqual([1, 0.5, 1 / 6, 0]);
  });

  test('are drawn within each data set', () => {
    const apart = [
      [0, 0, 0],
      [1, 1, 1],
    ];
    const still = overRuns(interquartileMean, [apart]);
    expect(still).toEqual({ value: 0.5, low: 0.5, high: 0.5, n: 6 });
    const { value, low, high } = overRuns(probabilityOfImprovement, [scores, scores], { resamples: 200 });
    expect(low).toBeLessThan(value);
    expect(high).toBeGreaterThan(value);
    expect(overRuns(interquartileMean, [scores], { resamples: 50 })).toEqual(
      overRuns(interquartileMean, [scores], { resamples: 50 }),
    );
  });
});
