import { expect, test } from '@jest/globals';
import { calibrationOf } from '../../../src/metrics/calibration.js';

test('calibration uses bins of equal width, weighted by size', () => {
  const said = [0.05, 0.05, 0.25, 1].map((probability, i) => ({ probability, right: i % 2 === 1 }));
  const { n, said: mean, right, ece, bins } = calibrationOf(said);
  expect([n, right]).toEqual([4, 0.5]);
  expect(mean).toBeCloseTo(0.3375, 12);
  expect(bins).toEqual([
    { from: 0, to: 0.1, n: 2, said: 0.05, right: 0.5 },
    { from: 0.2, to: expect.closeTo(0.3, 12), n: 1, said: 0.25, right: 0 },
    { from: 0.9, to: 1, n: 1, said: 1, right: 1 },
  ]);
  expect(ece).toBeCloseTo((2 * 0.45 + 0.25 + 0) / 4, 12);
});
