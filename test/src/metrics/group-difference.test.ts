import { expect, test } from '@jest/globals';
import { groupDifference } from '../../../src/metrics/bootstrap.js';

const clusters = (n: number, size = 1) => Array.from({ length: n }, (_, i) => String(Math.floor(i / size)));

test('is the difference of the means, with the same interval at every call', () => {
  const values = [1, 0, 1, 1, 0, 0];
  const inGroup = [true, true, true, true, false, false];
  const difference = groupDifference(values, inGroup, clusters(6));
  expect(difference).toMatchObject({ value: 0.75, n: 6 });
  expect(groupDifference(values, inGroup, clusters(6))).toEqual(difference);
});

test('is drawn 2,000 times unless it is said how often', () => {
  const values = Array.from({ length: 40 }, (_, i) => Math.sin(i));
  const of = (options: { resamples?: number; seed: number }) =>
    groupDifference(
      values,
      values.map((_, i) => i % 3 === 0),
      values.map((_, i) => `d${i}`),
      options,
    );
  const seeds = Array.from({ length: 60 }, (_, seed) => seed);
  for (const seed of seeds) expect(of({ seed })).toEqual(of({ seed, resamples: 2000 }));
  // One more resample moves an end, though not for every seed.
  expect(seeds.some((seed) => of({ seed }).high !== of({ seed, resamples: 2001 }).high)).toBe(true);
});

test('has the interval of two independent shares where every sample is a cluster', () => {
  // 30 % of 400 and 10 % of 200: the standard error is √(.3 · .7 / 400 + .1 · .9 / 200).
  const n = 600;
  const inGroup = Array.from({ length: n }, (_, i) => i < 400);
  const values = inGroup.map((group, i) => Number(group ? i < 120 : i < 420));
  const { value, low, high } = groupDifference(values, inGroup, clusters(n));
  const half = 1.96 * Math.sqrt((0.3 * 0.7) / 400 + (0.1 * 0.9) / 200);
  expect(value).toBeCloseTo(0.2, 10);
  expect(low).toBeCloseTo(0.2 - half, 1);
  expect(high).toBeCloseTo(0.2 + half, 1);
  expect((high - low) / (2 * half)).toBeCloseTo(1, 0);
});

test('is as uncertain as its clusters are few, not its samples', () => {
  const inGroup = Array.from({ length: 400 }, (_, i) => i % 4 < 2);
  const values = inGroup.map((group, i) => Number(group && i < 200));
  const width = ({ low, high }: { low: number; high: number }) => high - low;
  const [single, tens] = [clusters(400, 4), clusters(400, 40)].map((of) => width(groupDifference(values, inGroup, of)));
  expect(tens!).toBeGreaterThan(2 * single!);
});
