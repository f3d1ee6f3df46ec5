import { expect, test } from '@jest/globals';
import { applyAction, defaultWalkRules } from '../../../envs/dialogue-walk/rules.js';
import { Rng } from '../../../src/run/seeds.js';
import { segmentLogSoftmax } from '../../../src/nn/categorical.js';
import { goldWalks } from '../../../agents/dialogue-walker/demonstrations.js';
import { expectedRewardGradient } from '../../../agents/dialogue-walker/expected-reward.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const { graph, samples } = toyTwoHop();
const walks = goldWalks(samples, graph, defaultWalkRules);
const sizes = walks.flatMap(({ states }) =>
  states.map(({ state }) => graph.degree(state.current) + (state.hop > 0 ? 1 : 0)),
);
const offsets = sizes.reduce((sums, size) => [...sums, sums.at(-1)! + size], [0]);
const normals = (seed: number) => {
  const rng = new Rng(seed);
  return Float32Array.from({ length: offsets.at(-1)! }, () => rng.normal());
};

/** exp(log π) of every action, in plain numbers. */
function probabilities(logits: readonly number[]): number[] {
  return sizes.flatMap((size, s) => {
    const weights = logits.slice(offsets[s]!, offsets[s]! + size).map(Math.exp);
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  });
}

test('the expected reward is the mean probability of the gold walks, stays included', () => {
  const { reward, anchorKl } = expectedRewardGradient(
    new Float32Array(offsets.at(-1)!),
    Int32Array.from(offsets),
    walks,
    undefined,
    0,
  );
  // Uniform: 5 edges at the film; then 5, 5 (4 edges or staying), 3 and 1 actions; 2 at tenet, then 5.
  const expected = (1 / 25 + 1 / 25 + 1 / 15 + 1 / 5 + 1 / 10) / 5;
  expect(reward).toBeCloseTo(expected, 6);
  expect(anchorKl).toBe(0);
  // The heist has no edges: staying is all that is left there.
  const heist = applyAction(graph, walks[3]!.states[0]!.state, walks[3]!.states[0]!.gold, defaultWalkRules);
  expect([graph.degree(heist.current), walks[3]!.states[1]!.gold]).toEqual([0, 0]);
});

test.each([0, 0.7])('its gradient agrees with finite differences, anchored by %f', (klCoef) => {
  const logits = normals(1);
  const reference = segmentLogSoftmax(normals(2), Int32Array.from(offsets));
  const loss = (at: readonly number[]) => {
    const p = probabilities(at);
    let s = 0;
    let reward = 0;
    for (const { states } of walks) {
      reward += states.reduce((product, { gold }) => product * p[offsets[s++]! + gold]!, 1) / walks.length;
    }
    const kl = p.reduce((sum, value, i) => sum + value * (Math.log(value) - reference[i]!), 0) / sizes.length;
    return klCoef * kl - reward;
  };
  const result = expectedRewardGradient(logits, Int32Array.from(offsets), walks, reference, klCoef);
  expect(klCoef * result.anchorKl - result.reward).toBeCloseTo(loss([...logits]), 5);
  const h = 1e-5;
  logits.forEach((_, i) => {
    const moved = (by: number) => loss(Array.from(logits, (logit, j) => (j === i ? logit + by : logit)));
    expect(result.gradient[i]).toBeCloseTo((moved(h) - moved(-h)) / (2 * h), 5);
  });
});
