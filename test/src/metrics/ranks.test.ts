import { describe, expect, test } from '@jest/globals';
import { filteredRank, hitsAtK, mrr, realisticRank, spreadOf } from '../../../src/metrics/ranks.js';

/** Rank of an answer from float64 scores. */
const rankOf = (scores: readonly number[], answer: number, known: readonly number[] = []) =>
  filteredRank(Float64Array.from(scores), answer, Int32Array.from(known));

describe('realistic ranks', () => {
  test('the best candidate alone has rank 1', () => {
    expect(rankOf([0.1, 0.9, 0.3], 1)).toBe(1);
  });

  test('ties share the mean of the ranks they take', () => {
    // Ranks 2, 3 and 4 are taken by the three candidates with 0.5.
    expect(rankOf([0.9, 0.5, 0.5, 0.5, 0.1], 2)).toBe(3);
    expect(realisticRank(1, 2)).toBe(3);
  });

  test('a model that scores everything alike gets the middle', () => {
    expect(
      rankOf(
        Array.from({ length: 101 }, () => 0),
        7,
      ),
    ).toBe(51);
  });

  test('excluded candidates do not count, whether better or level', () => {
    const scores = [3, 2, 2, 1];
    expect(rankOf(scores, 1)).toBe(2.5);
    expect(rankOf(scores, 1, [0])).toBe(1.5);
    expect(rankOf(scores, 1, [0, 2])).toBe(1);
    // Nor does one that is worse.
    expect(rankOf(scores, 1, [3])).toBe(2.5);
  });

  test('the answer counts even where it is among the excluded', () => {
    expect(rankOf([1, 2], 0, [0, 1])).toBe(1);
  });

  test('NaN ranks last', () => {
    expect(rankOf([NaN, 1, 2], 0)).toBe(3);
    expect(rankOf([NaN, 1], 1)).toBe(2);
  });
});

describe('figures made of ranks', () => {
  test('by hand', () => {
    const ranks = [1, 2, 4, 2.5];
    expect(mrr(ranks)).toBeCloseTo((1 + 1 / 2 + 1 / 4 + 1 / 2.5) / 4);
    expect(hitsAtK(ranks, 1)).toBe(1 / 4);
    expect(hitsAtK(ranks, 2)).toBe(2 / 4);
    expect(hitsAtK(ranks, 10)).toBe(1);
  });

  test('no ranks give 0', () => {
    expect(mrr([])).toBe(0);
    expect(hitsAtK([], 10)).toBe(0);
  });
});

test('percentiles are values of the set, by nearest rank', () => {
  expect(spreadOf([4, 1, 3, 2])).toEqual({ mean: 2.5, median: 2, p95: 4, max: 4 });
  expect(spreadOf([7])).toEqual({ mean: 7, median: 7, p95: 7, max: 7 });
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
  expect(spreadOf(hundred)).toEqual({ mean: 50.5, median: 50, p95: 95, max: 100 });
});

test('no values give zeros', () => {
  expect(spreadOf([])).toEqual({ mean: 0, median: 0, p95: 0, max: 0 });
});
