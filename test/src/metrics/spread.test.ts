import { expect, test } from '@jest/globals';
import { spreadOf } from '../../../src/metrics/ranks.js';

test('percentiles are values of the set, by nearest rank', () => {
  expect(spreadOf([4, 1, 3, 2])).toEqual({ mean: 2.5, median: 2, p95: 4, max: 4 });
  expect(spreadOf([7])).toEqual({ mean: 7, median: 7, p95: 7, max: 7 });
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
  expect(spreadOf(hundred)).toEqual({ mean: 50.5, median: 50, p95: 95, max: 100 });
});

test('no values give zeros', () => {
  expect(spreadOf([])).toEqual({ mean: 0, median: 0, p95: 0, max: 0 });
});
