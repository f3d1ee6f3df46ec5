import { describe, expect, test } from '@jest/globals';
import {
  explainedVariance,
  generalizedAdvantages,
  groupAdvantages,
  normalizeAdvantages,
  rewardsToGo,
  type RolloutSteps,
} from '../../../trainers/advantages.js';

function rollout(columns: {
  rewards: number[];
  values?: number[];
  next: number[];
  terminated: number[];
  bootstrapValues?: number[];
}): RolloutSteps {
  const zeros = columns.rewards.map(() => 0);
  return {
    rewards: Float32Array.from(columns.rewards),
    values: Float32Array.from(columns.values ?? zeros),
    next: Int32Array.from(columns.next),
    terminated: Uint8Array.from(columns.terminated),
    bootstrapValues: Float32Array.from(columns.bootstrapValues ?? zeros),
  };
}

const close = (actual: ArrayLike<number>, expected: number[]) => {
  expect(actual.length).toBe(expected.length);
  expected.forEach((value, i) => expect(actual[i]).toBeCloseTo(value, 6));
};

describe('returns and advantages', () => {
  test('B-ARK-11: a terminal reward on a chain of two steps is discounted once', () => {
    const chain = rollout({ rewards: [0, 1], next: [1, -1], terminated: [0, 1] });
    close(rewardsToGo(chain, 0.5), [0.5, 1]);
    close(generalizedAdvantages(chain, 0.5, 1).returns, [0.5, 1]);
  });

  test('B-ARK-1: GAE is what the formula gives by hand', () => {
    const chain = rollout({ rewards: [1, 2, 4], values: [0.5, 1, 2], next: [1, 2, -1], terminated: [0, 0, 1] });
    // δ = [1 + .5·1 − .5, 2 + .5·2 − 1, 4 − 2] = [1, 2, 2]; γλ = .25: A = [1 + .25·2.5, 2 + .25·2, 2].
    const { advantages, returns } = generalizedAdvantages(chain, 0.5, 0.5);
    close(advantages, [1.625, 2.5, 2]);
    close(returns, [2.125, 3.5, 4]);
  });

  test('lambda 0 looks one step ahead, lambda 1 to the end', () => {
    const chain = rollout({ rewards: [0, 1], values: [0.25, 0.75], next: [1, -1], terminated: [0, 1] });
    close(generalizedAdvantages(chain, 1, 0).advantages, [0.5, 0.25]);
    close(generalizedAdvantages(chain, 1, 1).advantages, [0.75, 0.25]);
  });

  test('truncation bootstraps, termination does not', () => {
    const ends = { rewards: [1, 1], values: [0.5, 0.5], next: [-1, -1], bootstrapValues: [10, 10] };
    const mixed = rollout({ ...ends, terminated: [1, 0] });
    close(generalizedAdvantages(mixed, 0.9, 0.95).advantages, [0.5, 9.5]);
    close(rewardsToGo(mixed, 0.9), [1, 10]);
  });

  test('episodes of different lengths may be interleaved', () => {
    // Episode a holds rows 0, 2, 3; episode b row 1.
    const mixed = rollout({ rewards: [0, 5, 0, 1], next: [2, -1, 3, -1], terminated: [0, 1, 0, 1] });
    close(rewardsToGo(mixed, 0.5), [0.25, 5, 0.5, 1]);
    close(generalizedAdvantages(mixed, 0.5, 0.95).advantages, [0.475 ** 2, 5, 0.475, 1]);
  });

  test('B-MIN-1: the group mean is taken over episodes, not over steps', () => {
    // Group 7: an episode of two steps that hits and one of one step that misses; group 3: one episode.
    const mixed = rollout({ rewards: [0, 0, 1, 1], next: [2, -1, -1, -1], terminated: [0, 1, 1, 1] });
    const of = (baseline: 'group-mean' | 'leave-one-out', normalizeAdvantage: 'none' | 'group') =>
      groupAdvantages(mixed, Int32Array.of(7, 7, 7, 3), { baseline, normalizeAdvantage, gamma: 1 });
    const { advantages, returns } = of('group-mean', 'none');
    close(advantages, [0.5, -0.5, 0.5, 0]);
    close(returns, [1, 0, 1, 1]);
    // The other episode of group 7 has return 0 or 1; a group of one has no other and no deviation.
    close(of('leave-one-out', 'none').advantages, [1, -1, 1, 0]);
    close(of('group-mean', 'group').advantages, [1, -1, 1, 0]);
  });
});

describe('normalizeAdvantages', () => {
  test('B-LIZ-1: gives mean 0 and deviation 1', () => close(normalizeAdvantages(Float32Array.of(1, 3)), [-1, 1]));
  test('only scales where the mean was taken out before', () => {
    close(normalizeAdvantages(Float32Array.of(1, 3), false), [1, 3]);
    close(normalizeAdvantages(Float32Array.of(2, 6), false), [1, 3]);
  });
  test('B-LIZ-1: leaves a single value, and makes equal ones zero', () => {
    close(normalizeAdvantages(Float32Array.of(4)), [4]);
    close(normalizeAdvantages(Float32Array.of(2, 2)), [0, 0]);
  });
});

describe('explainedVariance', () => {
  const returns = Float32Array.of(0, 1, 2);
  test('is 1 for a perfect critic, 0 for a constant one, negative for a bad one', () => {
    expect(explainedVariance(returns, returns)).toBe(1);
    expect(explainedVariance(Float32Array.of(5, 5, 5), returns)).toBe(0);
    expect(explainedVariance(Float32Array.of(2, 1, 0), returns)).toBeCloseTo(-3, 12);
  });
  test('is not a number where returns do not vary', () => {
    expect(explainedVariance(returns, Float32Array.of(1, 1, 1))).toBeNaN();
  });
});
