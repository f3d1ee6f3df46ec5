/** Cross-entropy of gold actions with its gradient in closed form. */
import type { StateBatch } from '../../agents/walker/state-batch.js';
import { segmentLogSoftmax } from '../../src/tensor/categorical.js';
import type { GoldState } from './gold-states.js';

/** Weighted loss of a batch, nats, and its gradient by the logits. */
export interface CloningLoss {
  /** Σ over states of −weight · log π(gold). */
  total: number;
  /** float32 [N]: derivative of `total / normaliser` by each logit. */
  gradient: Float32Array;
}

/**
 * @param logits float32 [N], uncorrected; of legal actions alone
 * @param golds one for each state of the batch
 * @param weights one for each state
 * @param normaliser what the loss is divided by: the number of samples
 */
export function cloningLoss(
  logits: Float32Array,
  batch: Pick<StateBatch, 'offsets'>,
  golds: readonly Pick<GoldState, 'gold' | 'logWeights'>[],
  weights: ArrayLike<number>,
  normaliser: number,
): CloningLoss {
  const { offsets } = batch;
  const corrected = logits.slice();
  golds.forEach(({ logWeights }, s) => logWeights?.forEach((weight, i) => (corrected[offsets[s]! + i]! += weight)));
  const logProbs = segmentLogSoftmax(corrected, offsets);
  const gradient = new Float32Array(logits.length);
  let total = 0;
  for (let s = 0; s < golds.length; s++) {
    const weight = weights[s]!;
    for (let i = offsets[s]!; i < offsets[s + 1]!; i++) gradient[i] = (weight * Math.exp(logProbs[i]!)) / normaliser;
    const gold = offsets[s]! + golds[s]!.gold;
    gradient[gold]! -= weight / normaliser;
    total -= weight * logProbs[gold]!;
  }
  return { total, gradient };
}
