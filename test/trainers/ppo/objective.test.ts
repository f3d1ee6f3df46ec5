import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import { segmentLogSoftmax } from '../../../src/nn/categorical.js';
import type { ObjectiveWeights } from '../../../src/nn/executor.js';
import { ppoObjective, type ObjectiveInput } from '../../../trainers/ppo-loss.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { microbatches } from '../../../trainers/ppo-step.js';
import { entropyCoefAt } from '../../../trainers/ppo.js';

const off: ObjectiveWeights = {
  algorithm: 'ppo',
  dualClip: null,
  clipRange: 0.2,
  clipRangeValue: null,
  entropyCoef: 0,
  valueCoef: 0,
  klCoef: 0,
  feasibilityCoef: 0,
};
const everything: ObjectiveWeights = {
  ...off,
  clipRangeValue: 0.3,
  entropyCoef: 0.7,
  valueCoef: 0.5,
  klCoef: 0.9,
  feasibilityCoef: 0.6,
};

/** Four states of 1, 2, 5 and 3 actions, twelve transitions that share them, old probabilities well off the new ones. */
function example(seed: number) {
  const rng = new Rng(seed);
  const offsets = Int32Array.of(0, 1, 3, 8, 11);
  const normals = (n: number, scale: number) => Float32Array.from({ length: n }, () => scale * rng.normal());
  const logits = normals(11, 1);
  const state = Int32Array.from({ length: 12 }, () => rng.integer(4));
  const action = Int32Array.from(state, (s) => rng.integer(offsets[s + 1]! - offsets[s]!));
  const values = normals(4, 1);
  const logProbs = segmentLogSoftmax(logits, offsets);
  const noise = normals(12, 0.3);
  return {
    logits,
    offsets,
    values,
    referenceLogProbs: segmentLogSoftmax(normals(11, 1), offsets),
    transitions: {
      state,
      action,
      oldLogProb: Float32Array.from(state, (s, t) => logProbs[offsets[s]! + action[t]!]! + noise[t]!),
      oldValue: Float32Array.from(state, (s) => values[s]! + 0.5 * rng.normal()),
      advantage: normals(12, 1),
      returns: normals(12, 1),
    },
  } satisfies ObjectiveInput;
}

/** Central differences of `f` at `x`. */
function differences(x: number[], f: (x: number[]) => number, step: number) {
  return x.map((_, i) => {
    const moved = (by: number) => f(x.map((value, j) => (j === i ? value + by : value)));
    return (moved(step) - moved(-step)) / (2 * step);
  });
}

describe('ppoObjective', () => {
  test('its gradient agrees with finite differences of the same loss', () => {
    const input = example(3);
    const { dLogits, dValues } = ppoObjective(input, everything);
    const at = (part: Partial<ObjectiveInput>) => ppoObjective({ ...input, ...part }, everything).losses.loss;
    const grads = differences([...input.logits], (x) => at({ logits: Float32Array.from(x) }), 2e-3);
    grads.forEach((grad, i) => expect(dLogits[i]).toBeCloseTo(grad, 3));
    const valueGrads = differences([...input.values], (x) => at({ values: Float32Array.from(x) }), 2e-3);
    valueGrads.forEach((grad, s) => expect(dValues[s]).toBeCloseTo(grad, 3));
  });

  test('B-ARK-1: ratios are exactly 1 before the first update', () => {
    const input = example(1);
    const { state, action } = input.transitions;
    const logProbs = segmentLogSoftmax(input.logits, input.offsets);
    const oldLogProb = Float32Array.from(state, (s, t) => logProbs[input.offsets[s]! + action[t]!]!);
    const transitions = { ...input.transitions, oldLogProb };
    const { diagnostics, losses } = ppoObjective({ ...input, transitions }, off);
    expect(diagnostics).toMatchObject({ maxRatioDeviation: 0, approxKl: 0, clipFraction: 0 });
    const mean = transitions.advantage.reduce((sum, a) => sum + a, 0) / 12;
    expect(losses.policyLoss).toBeCloseTo(-mean, 12);
  });

  test('at ratio 1 the policy gradient is that of REINFORCE, by hand', () => {
    // Two equal actions, one transition with advantage 2: −2 (1 − ½) for the chosen, +2 · ½ for the other.
    const { dLogits } = ppoObjective({ ...pair, transitions: one({ advantage: 2 }) }, off);
    expect([...dLogits]).toEqual([-1, 1].map((grad) => expect.closeTo(grad, 6)));
  });

  test('a clipped ratio has no gradient on the good side and all of it on the bad side', () => {
    expect(gone(1.5, 1)).toEqual([0, expect.closeTo(-1.2, 6), 1]);
    expect(gone(1.5, -1)).toEqual([expect.closeTo(0.75, 6), expect.closeTo(1.5, 6), 1]);
    expect(gone(0.5, 1)).toEqual([expect.closeTo(-0.25, 6), expect.closeTo(-0.5, 6), 1]);
    expect(gone(0.5, -1)).toEqual([0, expect.closeTo(0.8, 6), 1]);
  });

  test('a dual clip bounds what a bad action costs, and leaves good ones alone', () => {
    const at = (ratio: number, advantage: number) => gone(ratio, advantage, { ...off, dualClip: 3 }).slice(0, 2);
    expect(at(2.9, -1)).toEqual([expect.closeTo(1.45, 5), expect.closeTo(2.9, 5)]);
    expect(at(3.1, -1)).toEqual([0, expect.closeTo(3, 6)]);
    expect(at(1e9, -2)).toEqual([0, expect.closeTo(6, 6)]);
    expect(at(0.5, -1)).toEqual([0, expect.closeTo(0.8, 6)]);
    expect(at(1.5, 1)).toEqual([0, expect.closeTo(-1.2, 6)]);
  });

  test('diagnostics are what their formulas give by hand', () => {
    const transitions = one({ oldLogProb: Math.log(0.25) });
    const { diagnostics, losses } = ppoObjective({ ...pair, transitions }, off);
    expect(diagnostics.approxKl).toBeCloseTo(1 - Math.log(2), 6);
    expect(diagnostics.maxRatioDeviation).toBeCloseTo(1, 6);
    expect(diagnostics.normalizedEntropy).toBeCloseTo(1, 6);
    expect(losses.entropy).toBeCloseTo(Math.log(2), 6);
  });

  test('the KL penalty costs nothing at the clone and KL(policy ‖ clone) elsewhere', () => {
    const anchored = (p: number) =>
      ppoObjective(
        { ...pair, referenceLogProbs: Float32Array.of(Math.log(p), Math.log(1 - p)), transitions: one({}) },
        { ...off, klCoef: 1 },
      ).losses.anchorKl;
    expect(anchored(0.5)).toBeCloseTo(0, 7);
    expect(anchored(0.25)).toBeCloseTo(0.5 * Math.log(2) + 0.5 * Math.log(0.5 / 0.75), 6);
  });

  test('a mask hides scores from everything but the feasibility loss', () => {
    for (let seed = 0; seed < 10; seed++) {
      const plain = example(seed);
      // Illegal scores around and between the legal ones; the second state has none.
      const scoredOffsets = Int32Array.of(0, 3, 5, 11, 16);
      const legal = Int32Array.of(1, 3, 4, 5, 6, 8, 9, 10, 12, 13, 15);
      const rng = Rng.named(seed, 'test/illegal');
      const logits = Float32Array.from({ length: 16 }, () => 2 * rng.normal());
      legal.forEach((index, i) => (logits[index] = plain.logits[i]!));
      const input = { ...plain, logits, masked: { scoredOffsets, legal } };
      const settings = { ...everything, feasibilityCoef: 0 };
      const [hidden, seen] = [ppoObjective(input, settings), ppoObjective(plain, settings)];
      expect(hidden.losses.loss).toBe(seen.losses.loss);
      expect([...legal].map((index) => hidden.dLogits[index])).toEqual([...seen.dLogits]);
      expect(hidden.dLogits.filter((grad) => grad !== 0)).toHaveLength(seen.dLogits.filter((x) => x !== 0).length);

      const infeasible = (x: number[]) => {
        const shares = Array.from(plain.transitions.state, (s) => {
          const mass = (indices: number[]) => indices.reduce((sum, index) => sum + Math.exp(x[index]!), 0);
          const all = Array.from(logits.keys()).slice(scoredOffsets[s], scoredOffsets[s + 1]);
          return -Math.log(mass([...legal].slice(plain.offsets[s], plain.offsets[s + 1])) / mass(all));
        });
        return shares.reduce((sum, share) => sum + share, 0) / shares.length;
      };
      const { losses, dLogits } = ppoObjective(input, { ...settings, feasibilityCoef: 0.6 });
      expect(losses.feasibilityLoss).toBeCloseTo(infeasible([...logits]), 6);
      expect(losses.loss).toBeCloseTo(hidden.losses.loss + 0.6 * losses.feasibilityLoss, 10);
      differences([...logits], infeasible, 1e-5).forEach((grad, i) =>
        expect(dLogits[i]! - hidden.dLogits[i]!).toBeCloseTo(0.6 * grad, 5),
      );
    }
  });

  test('a state that no transition visits gets no gradient', () => {
    const input = { ...example(2), transitions: { ...one({}), state: Int32Array.of(2) } };
    const { dLogits, dValues } = ppoObjective(input, everything);
    expect([...dLogits.subarray(0, 3), ...dLogits.subarray(8)].every((grad) => grad === 0)).toBe(true);
    expect([dValues[0], dValues[1], dValues[3]]).toEqual([0, 0, 0]);
  });

  test('refuses illegal actions, empty minibatches, missing anchors and losses that are no numbers', () => {
    const run = (part: object, settings = off) => ppoObjective({ ...pair, transitions: one(part) }, settings);
    expect(() => run({ action: 2 })).toThrow(/expected a legal action/);
    expect(() => run({ action: -1 })).toThrow(/expected a legal action/);
    expect(() => run({ advantage: Number.NaN })).toThrow(/expected finite loss, got NaN/);
    expect(() => run({}, { ...off, klCoef: 1 })).toThrow(/expected referenceLogProbs/);
    const none = { ...example(0).transitions, state: new Int32Array(0) };
    expect(() => ppoObjective({ ...pair, transitions: none }, off)).toThrow(/expected transitions/);
  });
});

/** Gradient, loss and share of clips of one action whose probability is ½ and was ½ / ratio. */
function gone(ratio: number, advantage: number, settings = off) {
  const transitions = one({ advantage, oldLogProb: Math.log(0.5 / ratio) });
  const { dLogits, losses, diagnostics } = ppoObjective({ ...pair, transitions }, settings);
  return [dLogits[0], losses.policyLoss, diagnostics.clipFraction];
}

const pair = { logits: Float32Array.of(0, 0), offsets: Int32Array.of(0, 2) };

/** One transition of state 0, action 0, drawn with probability ½. */
function one(part: { action?: number; oldLogProb?: number; advantage?: number }) {
  return {
    state: Int32Array.of(0),
    action: Int32Array.of(part.action ?? 0),
    oldLogProb: Float32Array.of(part.oldLogProb ?? Math.log(0.5)),
    oldValue: Float32Array.of(0),
    advantage: Float32Array.of(part.advantage ?? 1),
    returns: Float32Array.of(0),
  };
}

describe('the parts of a minibatch', () => {
  const minibatch = {
    states: Int32Array.of(7, 3, 9),
    transitions: {
      state: Int32Array.of(0, 1, 0, 2, 1),
      action: Int32Array.of(1, 0, 0, 2, 1),
      oldLogProb: Float32Array.of(-0.9, -0.6, -0.5, -1.2, -0.8),
      oldValue: new Float32Array(5),
      advantage: Float32Array.of(1, -0.5, 0.3, 2, -1),
      returns: new Float32Array(5),
    },
  };
  const sizes = [2, 3, 4];
  const logits = Float32Array.of(0.1, 0.4, -0.3, 0.2, 0.9, 1, 0, -1, 0.5);
  const offsets = Int32Array.of(0, 2, 5, 9);

  test('leave a small one whole', () => {
    const [part, ...others] = microbatches(minibatch, sizes, 9);
    expect(others).toEqual([]);
    expect(part).toMatchObject({ share: 1, states: minibatch.states, transitions: minibatch.transitions });
  });

  test('hold runs of states with their own transitions, one state even where it exceeds the limit', () => {
    const parts = microbatches(minibatch, sizes, 5);
    expect(parts.map(({ states }) => [...states])).toEqual([[7, 3], [9]]);
    expect(parts.map(({ transitions }) => [...transitions.state])).toEqual([[0, 1, 0, 1], [0]]);
    expect(parts.map(({ share }) => share)).toEqual([0.8, 0.2]);
    expect(microbatches(minibatch, sizes, 1)).toHaveLength(3);
  });

  test.each([5, 1])('have gradients that add up to the gradient of the whole (at most %i actions)', (limit) => {
    const settings = ppoSettings.parse({ klCoef: 0.7, entropyCoef: 0.1 });
    const referenceLogProbs = Float32Array.from(logits, () => Math.log(0.3));
    const whole = ppoObjective({ logits, offsets, transitions: minibatch.transitions, referenceLogProbs }, settings);
    let state = 0;
    const summed = microbatches(minibatch, sizes, limit).flatMap((part) => {
      const [begin, end] = [offsets[state]!, offsets[state + part.states.length]!];
      const own = Int32Array.from({ length: part.states.length + 1 }, (_, i) => offsets[state + i]! - begin);
      state += part.states.length;
      const input = { logits: logits.slice(begin, end), offsets: own, transitions: part.transitions };
      const result = ppoObjective({ ...input, referenceLogProbs: referenceLogProbs.slice(begin, end) }, settings);
      return Array.from(result.dLogits, (value) => value * part.share);
    });
    summed.forEach((value, i) => expect(value).toBeCloseTo(whole.dLogits[i]!, 6));
  });
});

test('the entropy bonus stays, or falls linearly towards 0 after the last update', () => {
  const weights = (entropyDecay: 'none' | 'linear') => {
    const settings = ppoSettings.parse({ entropyCoef: 0.02, entropyDecay, updates: 4 });
    return [0, 1, 2, 3].map((update) => entropyCoefAt(update, settings));
  };
  expect(weights('none')).toEqual([0.02, 0.02, 0.02, 0.02]);
  weights('linear').forEach((weight, i) => expect(weight).toBeCloseTo([0.02, 0.015, 0.01, 0.005][i]!, 12));
});
