import { describe, expect, test } from '@jest/globals';
import { spreadOut } from '../../reports/plots/chart.js';
import { movingMean } from '../../reports/plots/smoothing.js';
import { seriesOfPhase } from '../../reports/plots/logged.js';
import { curveOf, largest } from '../../reports/series.js';
import type { MetricRecord } from '../../src/run/records.js';

describe('series', () => {
  test('are taken by phase and key, and a step that was logged again counts once', () => {
    const records: MetricRecord[] = [
      { phase: 'clone', step: 1, metrics: { a: 9 } },
      { phase: 'ppo', step: 1, metrics: { a: 1, b: 2 } },
      { phase: 'ppo', step: 2, metrics: { a: 3 } },
      { phase: 'ppo', step: 2, metrics: { a: 4 } },
    ];
    const series = seriesOfPhase(records, 'ppo');
    expect([...series.get('a')!]).toEqual([
      [1, 1],
      [2, 4],
    ]);
    expect([...series.keys()]).toEqual(['a', 'b']);
  });

  test('the moving mean is centred, cut at the ends and passes over what is not a number', () => {
    expect(movingMean([1, 2, 6, 4], 3)).toEqual([1.5, 3, 4, 5]);
    expect(movingMean([1, NaN, 3], 3)).toEqual([1, 2, 3]);
    expect(movingMean([5, 7], 1)).toEqual([5, 7]);
  });
});

test('the largest of half a million values, and of none', () => {
  expect(largest(Array.from({ length: 500_000 }, (_, i) => i % 7))).toBe(6);
  expect(largest([])).toBe(-Infinity);
});

describe('a curve over seeds', () => {
  const seeds = [1, 2, 6].map(
    (value) =>
      new Map([
        [10, value],
        [20, 2 * value],
      ]),
  );

  test('is the mean with the t interval of three seeds', () => {
    const curve = curveOf(seeds, 'eval/path@1');
    expect(curve.steps).toEqual([10, 20]);
    expect(curve.mean).toEqual([3, 6]);
    // Deviation of 1, 2, 6 is √7; t of 2 degrees of freedom is 4.303.
    expect(curve.high![0]).toBeCloseTo(3 + (4.303 * Math.sqrt(7)) / Math.sqrt(3), 6);
  });

  test('has no interval below three seeds, and the seeds themselves', () => {
    const curve = curveOf(seeds.slice(0, 2), 'x');
    expect(curve.low).toBeUndefined();
    expect(curve.seeds).toEqual([
      [1, 2],
      [2, 4],
    ]);
  });

  test('covers the steps that every seed has, so that a stopped seed bends nothing', () => {
    expect(
      curveOf(
        [
          new Map([
            [1, 1],
            [2, 2],
          ]),
          new Map([[1, 3]]),
        ],
        'x',
      ).steps,
    ).toEqual([1]);
    expect(curveOf([], 'x').steps).toEqual([]);
  });

  test('is smoothed where it is long and logged in training, never where it is evaluated', () => {
    const long = new Map(Array.from({ length: 120 }, (_, i) => [i + 1, i]));
    expect(curveOf([long], 'train/loss').window).toBe(7);
    expect(curveOf([long], 'eval/path@1').window).toBe(1);
    expect(curveOf([new Map([[1, 1]])], 'train/loss').window).toBe(1);
  });
});

test('labels are moved apart, and stay inside the plot', () => {
  expect(spreadOut([50, 52, 90], 10, 0, 100)).toEqual([50, 60, 90]);
  expect(spreadOut([95, 97, 99], 10, 0, 100)).toEqual([80, 90, 100]);
  expect(spreadOut([], 10, 0, 100)).toEqual([]);
});
