import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { agreementOf, type ChosenTurn, judgedAgreementOf, turnAgreements } from '../../bench/annotators/agreement.js';

const turn = (annotator: string, walk: string, judged?: ChosenTurn['judged']): ChosenTurn => ({
  ...{ annotator, walk, relations: walk[0]!, judged },
});

describe('annotators of one context', () => {
  test('agree by the share of the others that chose the same, by relations and by the majority', () => {
    // ra, ra, rb, s: relations are the first letter.
    const turns = [turn('1', 'ra'), turn('2', 'ra'), turn('3', 'rb'), turn('4', 's')];
    expect(turnAgreements(turns)).toEqual([
      // The others chose ra, rb, s once each: a third of them is the majority.
      { same: 1 / 3, sameRelations: 2 / 3, majority: 1 / 3 },
      { same: 1 / 3, sameRelations: 2 / 3, majority: 1 / 3 },
      { same: 0, sameRelations: 2 / 3, majority: 0 },
      { same: 0, sameRelations: 0, majority: 0 },
    ]);
  });

  test('agree with the majority by what most of the others chose, and with no other', () => {
    const turns = [turn('1', 'rb'), turn('2', 'ra'), turn('3', 'ra'), turn('4', 'rb'), turn('5', 'ra')];
    expect(turnAgreements(turns).map((one) => one!.majority)).toEqual([0, 0.5, 0.5, 0, 0.5]);
  });

  test('are not held against themselves', () => {
    expect(turnAgreements([turn('1', 'a'), turn('1', 'a')])).toEqual([undefined, undefined]);
    expect(turnAgreements([turn('1', 'a'), turn('1', 'b'), turn('2', 'a')]).map((one) => one!.same)).toEqual([
      1, 0, 0.5,
    ]);
  });
});

describe('agreement', () => {
  test('is the mean over turns, with an interval over contexts', () => {
    const all = [turn('1', 'a'), turn('2', 'a')];
    const none = [turn('3', 'a'), turn('4', 'b')];
    const { contexts, turns, same } = agreementOf([all, none, [turn('5', 'x')]]);
    expect([contexts, turns]).toEqual([2, 4]);
    expect(same).toMatchObject({ value: 0.5, low: 0, high: 1, n: 4 });
  });

  test('Σpq, Σq² and what follows from them are sums over all walks of the context', () => {
    const walks = ['a', 'b', 'c', 'd'];
    const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 4, maxLength: 4 });
    const chosen = fc.array(fc.constantFrom(...walks), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(fc.tuple(chosen, weights), { minLength: 1, maxLength: 4 }), (contexts) => {
        const total = contexts.reduce((sum, [own]) => sum + own.length, 0);
        let [pp, pq, qq] = [0, 0, 0];
        const turns = contexts.map(([own, raw], c) => {
          const mass = raw.reduce((sum, one) => sum + one, 0);
          const q = raw.map((one) => one / mass);
          const p = walks.map((walk) => own.filter((one) => one === walk).length / own.length);
          const pairs = own.flatMap((one, i) => own.filter((_, j) => i !== j).map((other) => Number(one === other)));
          // Brute force: all pairs of annotators, then sums over all walks.
          pp += (own.length / total) * (pairs.reduce((sum, one) => sum + one, 0) / pairs.length);
          pq += (own.length / total) * p.reduce((sum, one, i) => sum + one * q[i]!, 0);
          qq += (own.length / total) * q.reduce((sum, one) => sum + one * one, 0);
          const squares = q.reduce((sum, one) => sum + one ** 2, 0);
          return own.map((walk, i) =>
            turn(`${c}-${i}`, walk, { right: 0, relationsRight: 1, gold: q[walks.indexOf(walk)]!, squares }),
          );
        });
        const found = judgedAgreementOf(turns, 2)!;
        expect(found.same.value).toBeCloseTo(pp, 10);
        expect(found.drawn.value).toBeCloseTo(pq, 10);
        expect(found.squares.value).toBeCloseTo(qq, 10);
        expect(found.distance.value).toBeCloseTo(pp - 2 * pq + qq, 10);
        expect(found.left.value).toBeCloseTo(pp - pq, 10);
        expect([found.right.value, found.relationsRight.value]).toEqual([0, 1]);
      }),
      { numRuns: 50 },
    );
  });

  test('with a walker is over the turns that it judged, held against all others of their contexts', () => {
    const judged = { right: 1, relationsRight: 1, gold: 0.5, squares: 0.4 };
    const found = judgedAgreementOf([
      [turn('1', 'a', judged), turn('2', 'a')],
      [turn('3', 'a'), turn('4', 'b')],
    ])!;
    expect(found).toMatchObject({ contexts: 1, turns: 1, same: { value: 1 }, left: { value: 0.5 } });
    expect(judgedAgreementOf([[turn('1', 'a'), turn('2', 'a')]])).toBeUndefined();
  });
});
