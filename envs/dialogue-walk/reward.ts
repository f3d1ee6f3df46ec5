/** Potential-based reward shaping. */
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { WalkState } from './rules.js';

/** Φ of a state of a sample. May read the gold: shaping is part of the reward, which agents never see. */
export type Potential = (state: WalkState, sample: WalkSample) => number;

/**
 * F = γΦ(s′) − Φ(s), with Φ = 0 once the walk is over. Leaves the best policy what it was.
 * @source Ng, Harada and Russell 1999, "Policy invariance under reward transformations", theorem 1
 */
export function shapingReward(
  potential: Potential,
  sample: WalkSample,
  state: WalkState,
  next: WalkState,
  gamma: number,
): number {
  return (next.done ? 0 : gamma * potential(next, sample)) - potential(state, sample);
}

/**
 * Φ = cosine between the embeddings of the current entity and of the gold target, in [-1, 1]; 0 where either is unknown.
 * @param vectors float32 [numEntities, dim], row-major
 */
export function embeddingPotential(vectors: Float32Array, dim: number): Potential {
  return ({ current }, { gold: { target } }) => {
    if (current < 0 || target < 0) return 0;
    let dot = 0;
    let a = 0;
    let b = 0;
    for (let i = 0; i < dim; i++) {
      const x = vectors[current * dim + i]!;
      const y = vectors[target * dim + i]!;
      dot += x * y;
      a += x * x;
      b += y * y;
    }
    return a > 0 && b > 0 ? dot / Math.sqrt(a * b) : 0;
  };
}
