import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { answerMetrics, matchAnswers, truthAccuracy, unionMetrics } from '../../../src/metrics/answers.js';

describe('figures of a question', () => {
  test('are counted by hand: three of five items right, three of four golds', () => {
    const matches = { items: [[0], [], [1], [3], []], strict: [0, 1, 3], lenient: [0, 1, 2, 3] };
    expect(answerMetrics(matches, 4)).toEqual({
      'hit@1': 1,
      'hit-any': 1,
      precision: 0.6,
      recall: 0.75,
      f1: (2 * 0.6 * 0.75) / 1.35,
      exact: 0,
      partial: 1,
      complete: 1,
    });
  });

  test('B-MHK-1: a hit at rank one counts, and only there is it hit@1', () => {
    const first = answerMetrics({ items: [[0], []], strict: [0], lenient: [0] }, 1);
    expect(first).toMatchObject({ 'hit@1': 1, 'hit-any': 1 });
    const second = answerMetrics({ items: [[], [0]], strict: [0], lenient: [0] }, 1);
    expect(second).toMatchObject({ 'hit@1': 0, 'hit-any': 1 });
  });

  test('B-NSM-1: saying nothing has precision, recall and F1 of 0, and a question without golds has no figures', () => {
    const nothing = answerMetrics({ items: [], strict: [], lenient: [] }, 2);
    expect(new Set(Object.values(nothing))).toEqual(new Set([0]));
    expect(() => answerMetrics({ items: [], strict: [], lenient: [] }, 0)).toThrow(RangeError);
  });

  test('B-RoG-1: every figure stays in [0, 1], also where one name is several golds', () => {
    const names = ['Heat', 'heat', 'Ali', 'Thief', 'unknown'];
    const golds = fc.uniqueArray(fc.nat(4), { minLength: 1 });
    fc.assert(
      fc.property(golds, fc.array(fc.nat(5)), fc.array(fc.constantFrom(...names)), (ids, entities, literals) => {
        const context = { golds: ids.map((entity) => ({ name: names[entity]!, entity })), topics: [] };
        const text = literals.join(', ');
        const metrics = answerMetrics(matchAnswers({ entities, literals, text }, context), ids.length);
        for (const value of Object.values(metrics)) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        expect(metrics.exact).toBe(Number(metrics.f1 === 1));
      }),
    );
  });

  test('X + IO is the union of the golds that either matched', () => {
    expect(unionMetrics([0], [1], 2)).toEqual({ partial: 1, complete: 1 });
    expect(unionMetrics([0], [0], 2)).toEqual({ partial: 1, complete: 0 });
    expect(unionMetrics([], [], 2)).toEqual({ partial: 0, complete: 0 });
  });

  test('an unanswered truth question is wrong for either truth', () => {
    expect([truthAccuracy(undefined, false), truthAccuracy(false, false), truthAccuracy(true, false)]).toEqual([
      0, 1, 0,
    ]);
  });
});
