import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { defaultWalkRules } from '../../../envs/dialogue-walk/rules.js';
import { Rng } from '../../../src/run/seeds.js';
import {
  goldStates,
  goldWalks,
  sampleCandidates,
  type GoldState,
} from '../../../agents/dialogue-walker/demonstrations.js';
import { cloningLoss } from '../../../trainers/clone.js';
import { graphOf, sampleOf, toyTwoHop } from '../../fixtures/toy-walks.js';

const { graph, samples } = toyTwoHop();
const states = goldWalks(samples, graph, defaultWalkRules).flatMap((walk) => walk.states);

/** Offsets of states with the listed numbers of actions. */
function offsetsOf(counts: readonly number[]) {
  const offsets = new Int32Array(counts.length + 1);
  counts.forEach((count, s) => (offsets[s + 1] = offsets[s]! + count));
  return { offsets };
}

const goldAt = (gold: number, logWeights?: number[]): GoldState => ({
  ...states[0]!,
  gold,
  ...(logWeights && { logWeights: Float32Array.from(logWeights) }),
});

describe('the loss of cloning', () => {
  test('B-EMB-1: is the weighted cross-entropy by hand', () => {
    // Shares 1/4, 1/2, 1/4 and 1/2, 1/2.
    const logits = Float32Array.from([0, Math.LN2, 0, 3, 3]);
    const { total, gradient } = cloningLoss(logits, offsetsOf([3, 2]), [goldAt(1), goldAt(0)], [1, 3], 2);
    expect(total).toBeCloseTo(4 * Math.LN2, 5);
    // weight · (π − [gold]) / 2.
    [0.125, -0.25, 0.125, -0.75, 0.75].forEach((value, i) => expect(gradient[i]).toBeCloseTo(value, 6));
  });

  test('counts a listed action as often as its weight says', () => {
    // The second action stands for three of its kind: shares 1/4 and 3/4.
    const golds = [goldAt(0, [0, Math.log(3)])];
    const { total, gradient } = cloningLoss(new Float32Array(2), offsetsOf([2]), golds, [1], 1);
    expect(total).toBeCloseTo(Math.log(4), 6);
    expect(gradient[0]).toBeCloseTo(-0.75, 6);
    expect(gradient[1]).toBeCloseTo(0.75, 6);
  });

  test('leaves the logits as they were', () => {
    const logits = Float32Array.from([1, 2]);
    cloningLoss(logits, offsetsOf([2]), [goldAt(0, [0, 1])], [1], 1);
    expect(Array.from(logits)).toEqual([1, 2]);
  });

  test('takes what is as good as the gold together', () => {
    // Shares 1/8, 1/2, 1/4 and 1/8, of which the second and the last count.
    const logits = Float32Array.from([0, Math.log(4), Math.LN2, 0]);
    const golds = [{ ...goldAt(1), alike: Int32Array.of(1, 3) }];
    const { total, gradient } = cloningLoss(logits, offsetsOf([4]), golds, [2], 1);
    expect(total).toBeCloseTo(-2 * Math.log(5 / 8), 5);
    // weight · (π − π within those that count).
    [0.25, 1 - 1.6, 0.5, 0.25 - 0.4].forEach((value, i) => expect(gradient[i]).toBeCloseTo(value, 6));
  });

  test('has the gradient that its value has as gradient', () => {
    const problem = fc
      .array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.nat(5), fc.boolean()), { minLength: 1, maxLength: 4 })
      .chain((shapes) => {
        const size = shapes.reduce((sum, [count]) => sum + count, 0);
        const values = fc.array(fc.integer({ min: -16, max: 16 }), { minLength: size, maxLength: size });
        return fc.tuple(fc.constant(shapes), values);
      });
    fc.assert(
      fc.property(problem, ([shapes, values]) => {
        const logits = Float32Array.from(values, (value) => value / 8);
        const batch = offsetsOf(shapes.map(([count]) => count));
        const golds = shapes.map(([count, gold, corrected]) => ({
          ...goldAt(gold % count, corrected ? Array.from({ length: count }, (_, i) => i / 4) : undefined),
          // In half of the cases each third action is as good as the gold.
          ...(gold % 2 === 0 && {
            alike: Int32Array.from({ length: count }, (_, i) => i).filter((i) => (i - (gold % count)) % 3 === 0),
          }),
        }));
        const weights = shapes.map((_, s) => 1 + s / 2);
        const lossOf = (at: Float32Array) => cloningLoss(at, batch, golds, weights, 3).total / 3;
        const { gradient } = cloningLoss(logits, batch, golds, weights, 3);
        const step = 2 ** -6;
        logits.forEach((_, i) => {
          const grad =
            (lossOf(logits.with(i, logits[i]! + step)) - lossOf(logits.with(i, logits[i]! - step))) / step / 2;
          expect(gradient[i]).toBeCloseTo(grad, 3);
        });
      }),
      { numRuns: 60 },
    );
  });

  test('over sampled candidates is the full one when all may be listed', () => {
    const counts = states.map(({ state }) => graph.degree(state.current) + Number(state.hop > 0));
    const sampled = states.map((gold) =>
      sampleCandidates(gold, graph, defaultWalkRules, Math.max(...counts), new Rng(1)),
    );
    const rng = Rng.named(1, 'test/logits');
    const logits = Float32Array.from({ length: counts.reduce((sum, count) => sum + count, 0) }, () => rng.normal());
    const ones = states.map(() => 1);
    expect(cloningLoss(logits, offsetsOf(counts), sampled, ones, 2)).toEqual(
      cloningLoss(logits, offsetsOf(counts), states, ones, 2),
    );
  });

  describe('over a hub of 200 with sampled candidates', () => {
    const hub = graphOf(
      'hub',
      Array.from({ length: 200 }, (_, i) => ['hub', 'to', `leaf-${i}`] as const),
    );
    const sample = sampleOf(hub, 'x', '', 'hub', [['hub', 'to', 'leaf-3']]);
    const [full] = goldStates(sample, hub, { horizon: 1, equalAtStep1: false });
    const rng = Rng.named(2, 'test/hub');
    const all = Float32Array.from({ length: 200 }, () => rng.normal());
    const exact = cloningLoss(all, offsetsOf([200]), [full!], [1], 1);
    const sampledLoss = (most: number) => {
      const gold = sampleCandidates(full!, hub, { horizon: 1, equalAtStep1: false }, most, rng);
      const logits = Float32Array.from(gold.actions!, (action) => all[action]!);
      return { gold, ...cloningLoss(logits, offsetsOf([most]), [gold], [1], 1) };
    };
    const draws = 600;

    test('is on average close to the full one, and closer with more candidates', () => {
      const bias = (most: number) => {
        let sum = 0;
        for (let i = 0; i < draws; i++) sum += sampledLoss(most).total;
        return sum / draws - exact.total;
      };
      // E log ≤ log E: the estimate of log Σ exp lies low, by half its squared relative error.
      expect(Math.abs(bias(40))).toBeLessThan(0.05);
      expect(Math.abs(bias(150))).toBeLessThan(0.01);
    });

    test('pushes on average as the full one does', () => {
      const mean = new Float64Array(200);
      for (let i = 0; i < draws; i++) {
        const { gold, gradient } = sampledLoss(64);
        gold.actions!.forEach((action, k) => (mean[action]! += gradient[k]! / draws));
      }
      expect(mean[full!.gold]).toBeCloseTo(exact.gradient[full!.gold]!, 2);
      const dot = mean.reduce((sum, value, i) => sum + value * exact.gradient[i]!, 0);
      const cosine = dot / (Math.hypot(...mean) * Math.hypot(...exact.gradient));
      expect(cosine).toBeGreaterThan(0.995);
    });
  });
});
