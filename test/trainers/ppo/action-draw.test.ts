import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import { sampleSegment } from '../../../src/tensor/categorical.js';
import { actionDraw } from '../../../trainers/rollout.js';

const policy = [0.7, 0.2, 0.1];
/** The three actions between those of other states. */
const logProbs = Float32Array.from([1, ...policy, 1], Math.log);
const drawn = (rate: number, seed = 1) =>
  actionDraw(Rng.named(seed, 'walk'), { rate, rng: Rng.named(seed, 'dropout') });

/** Chance of each action over all ways to drop some of them. */
function expectedShares(rate: number): number[] {
  const shares = policy.map(() => 0);
  for (let kept = 0; kept < 8; kept++) {
    const keeps = policy.map((_, i) => ((kept >> i) & 1) === 1);
    const chance = keeps.reduce((product, keep) => product * (keep ? 1 - rate : rate), 1);
    const weights = policy.map((p, i) => (keeps[i] ? p : Number.EPSILON));
    const total = weights.reduce((a, b) => a + b);
    weights.forEach((weight, i) => (shares[i]! += (chance * weight) / total));
  }
  return shares;
}

describe('actions are drawn', () => {
  test('as the policy says where nothing is dropped, by the same draws', () => {
    const [rng, plain, own] = [Rng.named(1, 'walk'), drawn(0), actionDraw(Rng.named(1, 'walk'))];
    for (let i = 0; i < 200; i++) {
      const index = sampleSegment(logProbs, 1, 4, rng);
      expect([plain(logProbs, 1, 4), own(logProbs, 1, 4)]).toEqual([index, index]);
    }
  });

  test.each([0.1, 0.5, 0.9, 0.99])('with dropout %d as often as over all ways to drop', (rate) => {
    const [draw, draws] = [drawn(rate), 40_000];
    const counts = [0, 0, 0];
    for (let i = 0; i < draws; i++) counts[draw(logProbs, 1, 4)]!++;
    expectedShares(rate).forEach((share, i) => {
      expect(Math.abs(counts[i]! / draws - share)).toBeLessThan(4.5 * Math.sqrt((share * (1 - share)) / draws));
    });
  });

  test('from long lists, each action dropped as often as another', () => {
    // All but the first action weigh nothing, so the draw shows whether the first was dropped.
    const rate = 0.3;
    const long = new Float32Array(300).fill(-40);
    for (const first of [0, 1, 150, 299]) {
      const sharp = long.slice();
      sharp[first] = 0;
      const draw = drawn(rate, first);
      let kept = 0;
      for (let i = 0; i < 1000; i++) kept += Number(draw(sharp, 0, 300) === first);
      expect(Math.abs(kept / 1000 - (1 - rate))).toBeLessThan(4.5 * Math.sqrt((rate * (1 - rate)) / 1000));
    }
  });

  test('never where the probability is none, and the only action always', () => {
    const none = Float32Array.of(-Infinity, 0, -Infinity);
    const draw = drawn(0.2);
    for (let i = 0; i < 200; i++) expect(draw(Float32Array.of(-5), 0, 1)).toBe(0);
    // Where the middle one is dropped too, the dropped ones share alike.
    const counts = [0, 0, 0];
    for (let i = 0; i < 4000; i++) counts[draw(none, 0, 3)]!++;
    expect(counts[1]! / 4000).toBeGreaterThan(0.8);
  });

  test('equally for equal seeds', () => {
    const draws = (seed: number) => {
      const draw = drawn(0.5, seed);
      return Array.from({ length: 50 }, () => draw(logProbs, 1, 4)).join('');
    };
    expect(draws(1)).toBe(draws(1));
    expect(draws(1)).not.toBe(draws(2));
  });
});
