/**
 * The feasibility loss: under a hard mask the scores of an action that is rarely legal are hardly trained, and win by
 * accident where it is. Asking the unmasked policy to prefer legal actions trains them, from the graph alone.
 */
import type { MaskedActions } from '../../agents/actor.js';

/**
 * −mean log Σ_legal softmax(all scores), the mean weighted by visits; adds its gradient.
 * With P the softmax over all scores and L over the legal ones, ∂loss/∂z = P − L, where L = 0 for illegal actions.
 * @param scores float32 [number of scores]
 * @param offsets int32 [S + 1]: segments of `legal`
 * @param weights float64 [S]: share of the transitions that visit each state
 * @param gradient float64 [number of scores]: gains coef · ∂loss/∂scores
 * @returns the loss in nats, 0 where every action is legal
 */
export function feasibilityLoss(
  scores: Float32Array,
  { scoredOffsets, legal }: MaskedActions,
  offsets: Int32Array,
  weights: Float64Array,
  coef: number,
  gradient: Float64Array,
): number {
  let loss = 0;
  for (let s = 0; s < weights.length; s++) {
    const begin = scoredOffsets[s]!;
    const end = scoredOffsets[s + 1]!;
    let max = -Infinity;
    for (let i = begin; i < end; i++) max = Math.max(max, scores[i]!);
    let all = 0;
    for (let i = begin; i < end; i++) all += Math.exp(scores[i]! - max);
    let allowed = 0;
    for (let k = offsets[s]!; k < offsets[s + 1]!; k++) allowed += Math.exp(scores[legal[k]!]! - max);
    loss -= weights[s]! * Math.log(allowed / all);
    const scale = coef * weights[s]!;
    if (scale === 0) continue;
    for (let i = begin; i < end; i++) gradient[i]! += (scale * Math.exp(scores[i]! - max)) / all;
    for (let k = offsets[s]!; k < offsets[s + 1]!; k++) {
      gradient[legal[k]!]! -= (scale * Math.exp(scores[legal[k]!]! - max)) / allowed;
    }
  }
  return loss;
}
