import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { calibrationOf, coverages, riskCoverage, type RankedAnswer } from '../../../src/metrics/selective.js';
import { checkProperty } from '../../fixtures/property.js';

const answers = (...pairs: [number, boolean][]): RankedAnswer[] =>
  pairs.map(([confidence, right]) => ({ confidence, right }));

/** All orders of a list. */
function orders<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, i) => orders(items.filter((_, j) => j !== i)).map((rest) => [item, ...rest]));
}

/** Risk among the first k, k = 1 … n, averaged over every order consistent with the confidences. */
function risksByHand(all: readonly RankedAnswer[]): number[] {
  const allowed = orders(all).filter((order) =>
    order.every((one, i) => i === 0 || order[i - 1]!.confidence >= one.confidence),
  );
  return all.map((_, k) => {
    const risks = allowed.map((order) => order.slice(0, k + 1).filter(({ right }) => !right).length / (k + 1));
    return risks.reduce((sum, risk) => sum + risk, 0) / risks.length;
  });
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('risk and coverage', () => {
  test('of four answers, by hand: the surest is right, the second wrong, two right ones follow', () => {
    const { aurc, accuracy, least } = riskCoverage(answers([0.9, true], [0.8, false], [0.4, true], [0.1, true]));
    // Risks 0, 1/2, 1/3, 1/4; with the wrong one last 0, 0, 0, 1/4.
    expect(aurc.value).toBeCloseTo((1 / 2 + 1 / 3 + 1 / 4) / 4, 12);
    expect(least).toBeCloseTo(1 / 16, 12);
    expect(accuracy[20]).toMatchObject({ value: 1, n: 1 });
    expect(accuracy[40]).toMatchObject({ value: 0.5, n: 2 });
    expect(accuracy[100]).toMatchObject({ value: 0.75, n: 4 });
  });

  test('is the mean over all orders of tied answers, independent of input order', () => {
    const answer = fc.record({ confidence: fc.constantFrom(0, 0.25, 0.5, 1), right: fc.boolean() });
    checkProperty(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 6 }), (all) => {
        const risks = risksByHand(all);
        const { aurc, accuracy, least, curve } = riskCoverage(all, { resamples: 5 });
        expect(aurc.value).toBeCloseTo(mean(risks), 10);
        for (const coverage of coverages) {
          const k = Math.ceil((coverage * all.length) / 100);
          expect(accuracy[coverage]!.value).toBeCloseTo(1 - risks[k - 1]!, 10);
          expect(curve[coverage - 1]![1]).toBeCloseTo(1 - risks[k - 1]!, 10);
        }
        const best = orders(all).map((order) =>
          mean(order.map((_, k) => order.slice(0, k + 1).filter(({ right }) => !right).length / (k + 1))),
        );
        expect(least).toBeCloseTo(Math.min(...best), 10);
        expect(riskCoverage(all.toReversed(), { resamples: 5 }).aurc.value).toBeCloseTo(aurc.value, 12);
      }),
      { numRuns: 60 },
    );
  });

  test('has intervals that hold the value, Wilson’s at an edge, and the same by the same seed', () => {
    const many = Array.from({ length: 200 }, (_, i) => ({ confidence: 200 - i, right: i < 120 || i % 3 === 0 }));
    const found = riskCoverage(many);
    for (const { value, low, high } of [found.aurc, ...Object.values(found.accuracy)]) {
      expect(low).toBeLessThanOrEqual(value);
      expect(high).toBeGreaterThanOrEqual(value);
    }
    expect(found.accuracy[20]!.value).toBe(1);
    expect(found.accuracy[20]!.low).toBeCloseTo(40 / (40 + 1.96 ** 2), 3);
    expect(riskCoverage(many)).toEqual(found);
  });
});

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
