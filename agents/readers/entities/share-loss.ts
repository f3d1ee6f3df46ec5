/** How far shares of entities are from equal shares for the answers. */
import { finite } from '../../../src/tensor/host/tape.js';
import { softmaxOfReached } from './reasoning.js';

/** Loss of some questions and its slope by every score. */
export interface ShareLoss {
  /** Sum over the questions that have a target. */
  loss: number;
  /** float32 [rows]. */
  slope: Float32Array;
  /** Sum of the shares of right answers. */
  right: number;
}

/**
 * Σ_q KL(1 / |answers| ‖ softmax(scores)) over the answers of each question that are reached; what is not reached cannot be learned. A
 * question without one has a loss of 0.
 * @param scores float32 [rows] @param answers rows of each question's answers, distinct @param scale what the slope is multiplied with
 * @throws Diverged for a loss that is not finite
 */
export function shareLoss(
  scores: Float32Array,
  bounds: Int32Array,
  reached: Uint8Array,
  answers: readonly (readonly number[])[],
  scale: number,
): ShareLoss {
  const slope = new Float32Array(scores.length);
  const logs = softmaxOfReached(scores, bounds, reached, slope);
  let [loss, right] = [0, 0];
  answers.forEach((rows, q) => {
    const target = rows.filter((row) => reached[row] === 1);
    if (target.length === 0) return void slope.fill(0, bounds[q], bounds[q + 1]);
    for (const row of target) {
      loss -= (scores[row]! - logs[q]! + Math.log(target.length)) / target.length;
      right += slope[row]!;
      slope[row]! -= 1 / target.length;
    }
    for (let row = bounds[q]!; row < bounds[q + 1]!; row++) slope[row]! *= scale;
  });
  return { loss: finite(loss), slope, right };
}
