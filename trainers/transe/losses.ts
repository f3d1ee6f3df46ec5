/** The two losses of a true triple and its negatives, and their derivatives by distance. */
import type { TransESettings } from './settings.js';

type LossSettings = Pick<TransESettings, 'loss' | 'margin' | 'temperature'>;

/**
 * Derivatives of the loss. Nearer negatives cost more, so theirs are at most 0; `pushes` holds them with the sign turned.
 *
 * `self-adversarial`: −½ [log σ(margin − d⁺) + Σ wⱼ log σ(dⱼ − margin)], weights w = softmax(−temperature · d), held fixed.
 * `margin`: the mean over negatives of max(0, margin + d⁺ − dⱼ).
 * @param positive distance of the true triple
 * @param negatives distances of the corrupted ones
 * @param count how many of `negatives` there are
 * @param pushes filled with −∂loss/∂dⱼ, at least 0
 * @returns ∂loss/∂d⁺, at least 0
 * @source Sun et al. 2019 (RotatE), equations 5 and 6; Bordes et al. 2013 (TransE), equation 1
 */
export function lossGradient(
  { loss, margin, temperature }: LossSettings,
  positive: number,
  negatives: Float64Array,
  count: number,
  pushes: Float64Array,
): number {
  if (loss === 'margin') {
    let violated = 0;
    for (let j = 0; j < count; j++) {
      const violates = margin + positive > negatives[j]!;
      pushes[j] = violates ? 1 / count : 0;
      if (violates) violated++;
    }
    return count === 0 ? 0 : violated / count;
  }
  adversarialWeights(temperature, negatives, count, pushes);
  for (let j = 0; j < count; j++) pushes[j]! *= 0.5 * sigmoid(margin - negatives[j]!);
  return 0.5 * sigmoid(positive - margin);
}

/** The loss whose derivatives `lossGradient` gives. @param weights scratch of at least `count` */
export function lossValue(
  { loss, margin, temperature }: LossSettings,
  positive: number,
  negatives: Float64Array,
  count: number,
  weights: Float64Array,
): number {
  let sum = 0;
  if (loss === 'margin') {
    for (let j = 0; j < count; j++) sum += Math.max(0, margin + positive - negatives[j]!);
    return count === 0 ? 0 : sum / count;
  }
  adversarialWeights(temperature, negatives, count, weights);
  for (let j = 0; j < count; j++) sum += weights[j]! * softplus(margin - negatives[j]!);
  return 0.5 * (softplus(positive - margin) + sum);
}

function adversarialWeights(temperature: number, negatives: Float64Array, count: number, weights: Float64Array): void {
  let nearest = Infinity;
  for (let j = 0; j < count; j++) if (negatives[j]! < nearest) nearest = negatives[j]!;
  let sum = 0;
  for (let j = 0; j < count; j++) sum += weights[j] = Math.exp(temperature * (nearest - negatives[j]!));
  for (let j = 0; j < count; j++) weights[j]! /= sum;
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** −log σ(−x), without overflow. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}
