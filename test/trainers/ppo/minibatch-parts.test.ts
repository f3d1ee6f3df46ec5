import { describe, expect, test } from '@jest/globals';
import { microbatches } from '../../../trainers/ppo-step.js';
import { ppoObjective } from '../../../trainers/ppo-loss.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';

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

describe('the parts of a minibatch', () => {
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
    const whole = ppoObjective(
      { logits, offsets, transitions: minibatch.transitions, referenceLogProbs: referenceLogProbs },
      settings,
    );
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
