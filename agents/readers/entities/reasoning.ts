/**
 * Steps of reasoning over entities, on the tape. A message depends on the entity that it comes from through one number alone, its
 * share: what comes to an entity by a relation is a sum of numbers, and of vectors there is one a question and relation.
 */
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import type { EntityBatch } from './entity-batch.js';

/** S = Σ p_u over the edges of each run: [runs, 1]. @param shares [rows, 1] */
export function arrivals(
  tape: SimdTape,
  shares: HostTaped,
  { offsets, from }: Pick<EntityBatch, 'offsets' | 'from'>,
): HostTaped {
  const sums = tape.buffer(offsets.length - 1);
  for (let run = 0; run < sums.length; run++) {
    let sum = 0;
    for (let edge = offsets[run]!; edge < offsets[run + 1]!; edge++) sum += shares.values[from[edge]!]!;
    sums[run] = sum;
  }
  return tape.taped(sums, 1, (grads) => {
    if (!shares.grads) return;
    for (let run = 0; run < sums.length; run++) {
      for (let edge = offsets[run]!; edge < offsets[run + 1]!; edge++) shares.grads[from[edge]!]! += grads[run]!;
    }
  });
}

/**
 * softmax of each question's scores over the rows that are reached, 0 elsewhere; zeros where none is: [rows, 1].
 * @param scores [rows, 1] @param reached uint8 [rows]
 */
export function reachedShares(tape: SimdTape, scores: HostTaped, bounds: Int32Array, reached: Uint8Array): HostTaped {
  const out = tape.buffer(scores.values.length);
  softmaxOfReached(scores.values, bounds, reached, out);
  return tape.taped(out, 1, (grads) => {
    if (!scores.grads) return;
    for (let q = 0; q + 1 < bounds.length; q++) {
      let whole = 0;
      for (let row = bounds[q]!; row < bounds[q + 1]!; row++) whole += out[row]! * grads[row]!;
      for (let row = bounds[q]!; row < bounds[q + 1]!; row++) scores.grads[row]! += out[row]! * (grads[row]! - whole);
    }
  });
}

/** The same of plain numbers. @param out float32 [rows] @returns ln of each question's divisor, −∞ where nothing is reached */
export function softmaxOfReached(
  scores: Float32Array,
  bounds: Int32Array,
  reached: Uint8Array,
  out: Float32Array,
): Float64Array {
  return Float64Array.from({ length: bounds.length - 1 }, (_, q) => {
    const [begin, end] = [bounds[q]!, bounds[q + 1]!];
    let most = -Infinity;
    for (let row = begin; row < end; row++) if (reached[row] === 1) most = Math.max(most, scores[row]!);
    let sum = 0;
    for (let row = begin; row < end; row++) if (reached[row] === 1) sum += Math.exp(scores[row]! - most);
    const log = most + Math.log(sum);
    for (let row = begin; row < end; row++) out[row] = reached[row] === 1 ? Math.exp(scores[row]! - log) : 0;
    return sum === 0 ? -Infinity : log;
  });
}
