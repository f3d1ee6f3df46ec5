/** Loss of entity shares against equal shares of the answers. */
import { finiteLoss } from '../../../src/nn/diverged.js';
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import { softmaxOfReached } from './reasoning.js';

/** Loss of some questions and its gradient by every score. */
interface ShareLoss {
  /** Sum over the questions that have a target. */
  loss: number;
  /** float32 [rows]. */
  grad: Float32Array;
  /** Sum of the shares of right answers. */
  right: number;
}

/**
 * Σ_q KL(1 / |answers| ‖ softmax(scores)) over the answers of each question that are reached; what is not reached cannot be learned. A
 * question without one has a loss of 0.
 * @param scores float32 [rows] @param answers rows of each question's answers, distinct @param scale what the gradient is multiplied with
 * @throws Diverged for a loss that is not finite
 */
export function shareLoss(
  scores: Float32Array,
  bounds: Int32Array,
  reached: Uint8Array,
  answers: readonly (readonly number[])[],
  scale: number,
): ShareLoss {
  const grad = new Float32Array(scores.length);
  const logs = softmaxOfReached(scores, bounds, reached, grad);
  let [loss, right] = [0, 0];
  answers.forEach((rows, q) => {
    const target = rows.filter((row) => reached[row] === 1);
    if (target.length === 0) return void grad.fill(0, bounds[q], bounds[q + 1]);
    for (const row of target) {
      loss -= (scores[row]! - logs[q]! + Math.log(target.length)) / target.length;
      right += grad[row]!;
      grad[row]! -= 1 / target.length;
    }
    for (let row = bounds[q]!; row < bounds[q + 1]!; row++) grad[row]! *= scale;
  });
  return { loss: finiteLoss(loss), grad, right };
}

/** A loss of some shares or scores, and its gradients by each of them. */
interface LossWithGrads {
  loss: number;
  /** float32, as what they are gradients by. */
  grads: readonly Float32Array[];
}

/** A loss that was computed of numbers of a tape, as one number on it. @throws Diverged for one that is not finite */
export function tapedLoss(tape: SimdTape, of: readonly HostTaped[], { loss, grads }: LossWithGrads): HostTaped {
  const out = tape.buffer(1);
  out[0] = finiteLoss(loss);
  return tape.taped(out, 1, ([upstream]) => {
    of.forEach(({ grads: into }, i) => {
      if (into) for (let row = 0; row < into.length; row++) into[row]! += upstream! * grads[i]![row]!;
    });
  });
}

/** Added to shares under a logarithm. */
const tiny = 1e-8;

/** weight · Σ_q JS(p ‖ q), with m = ½ (p + q) + tiny for their mean. @param counted uint8 [rows]: those that count */
export function disagreement(p: Float32Array, q: Float32Array, counted: Uint8Array, weight: number): LossWithGrads {
  const grads = [new Float32Array(p.length), new Float32Array(p.length)] as const;
  let loss = 0;
  counted.forEach((counts, row) => {
    if (counts === 0) return;
    const sum = p[row]! + q[row]!;
    const mean = sum / 2 + tiny;
    [p[row]!, q[row]!].forEach((share, i) => {
      if (share === 0) return;
      const log = Math.log(share / mean);
      loss += (weight / 2) * share * log;
      grads[i]![row] = (weight / 2) * (log + 1 - sum / (2 * mean));
    });
  });
  return { loss, grads };
}

/** weight · Σ label · ln(label / (share + tiny)) over the rows that have both: what has no share cannot be learned. */
export function distance(shares: Float32Array, labels: Float32Array, weight: number): LossWithGrads {
  const grad = new Float32Array(shares.length);
  let loss = 0;
  labels.forEach((label, row) => {
    if (label === 0 || shares[row] === 0) return;
    const share = shares[row]! + tiny;
    loss += weight * label * Math.log(label / share);
    grad[row] = (-weight * label) / share;
  });
  return { loss, grads: [grad] };
}
