import { describe, expect, test } from '@jest/globals';
import { lossGradient, lossValue } from '../../../trainers/transe/losses.js';

const scratch = () => new Float64Array(4);
const distances = Float64Array.of(2.5, 4, 7, 5.5);

describe('the margin loss', () => {
  const settings = { loss: 'margin', margin: 2, temperature: 1 } as const;

  test('is the mean hinge over negatives, by hand', () => {
    // positive 3: 2 + 3 − 2.5 = 2.5, 2 + 3 − 4 = 1, none for 7 and 5.5
    expect(lossValue(settings, 3, distances, 4, scratch())).toBeCloseTo((2.5 + 1) / 4);
  });

  test('pushes violating negatives alike and pulls the positive by their share', () => {
    const pushes = scratch();
    expect(lossGradient(settings, 3, distances, 4, pushes)).toBe(0.5);
    expect([...pushes]).toEqual([0.25, 0.25, 0, 0]);
  });
});

describe('the self-adversarial loss', () => {
  const settings = { loss: 'self-adversarial', margin: 4, temperature: 0.7 } as const;

  test('by hand, with one negative', () => {
    const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
    const expected = -(Math.log(sigmoid(4 - 3)) + Math.log(sigmoid(2.5 - 4))) / 2;
    expect(lossValue(settings, 3, distances, 1, scratch())).toBeCloseTo(expected);
  });

  test('weights near negatives more, and all alike at temperature 0', () => {
    const pushes = scratch();
    lossGradient(settings, 3, distances, 4, pushes);
    expect(pushes[0]!).toBeGreaterThan(pushes[1]!);
    lossGradient({ ...settings, margin: 1e6, temperature: 0 }, 3, distances, 4, pushes);
    for (const push of pushes) expect(push).toBeCloseTo(1 / 8);
  });

  test('its derivatives match finite differences, the weights held fixed', () => {
    const pushes = scratch();
    const weights = scratch();
    const pull = lossGradient(settings, 3, distances, 4, pushes);
    lossValue(settings, 3, distances, 4, weights);
    const softplus = (x: number) => Math.log1p(Math.exp(x));
    const fixed = (positive: number, negatives: Float64Array) =>
      0.5 * (softplus(positive - 4) + weights.reduce((sum, w, j) => sum + w * softplus(4 - negatives[j]!), 0));
    const e = 1e-5;
    expect(pull).toBeCloseTo((fixed(3 + e, distances) - fixed(3 - e, distances)) / (2 * e), 8);
    distances.forEach((_, j) => {
      const moved = (by: number) => distances.map((d, i) => (i === j ? d + by : d));
      expect(-pushes[j]!).toBeCloseTo((fixed(3, moved(e)) - fixed(3, moved(-e))) / (2 * e), 8);
    });
  });

  test('does not overflow far from the margin', () => {
    const far = Float64Array.of(1e4, 2e4);
    expect(lossValue(settings, 1e5, far, 2, scratch())).toBeCloseTo((1e5 - 4) / 2);
    expect(lossGradient(settings, 1e5, far, 2, scratch())).toBe(0.5);
  });
});

test('without negatives the margin loss rests and the other pulls the positive', () => {
  expect(lossGradient({ loss: 'margin', margin: 1, temperature: 1 }, 3, distances, 0, scratch())).toBe(0);
  const adversarial = { loss: 'self-adversarial', margin: 1, temperature: 1 } as const;
  expect(lossGradient(adversarial, 1, distances, 0, scratch())).toBe(0.25);
  expect(lossValue(adversarial, 1, distances, 0, scratch())).toBeCloseTo(Math.log(2) / 2);
});
