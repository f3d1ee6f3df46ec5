/**
 * The one categorical distribution, for training, greedy walks, beams and evaluation, over ragged action lists: segment `s` holds the legal
 * actions of state `s`, so nothing masked can be sampled, trained on or ranked. Sums run in float64.
 */
import { WorkbenchError } from '../run/errors.js';
import type { Rng } from '../run/seeds.js';
import { Diverged, firstNotFinite } from './diverged.js';

/**
 * Log-probabilities of every legal action of every state.
 * @param logits float32 [numActions of all states]
 * @param offsets int32 [numStates + 1]: actions of state `s` are `offsets[s] .. offsets[s + 1] - 1`
 * @returns float32 [numActions], each segment's exponentials sum to 1
 * @throws WorkbenchError `failure` for a state without a legal action, `Diverged` for logits that are not finite
 */
export function segmentLogSoftmax(logits: Float32Array, offsets: Int32Array): Float32Array {
  const logProbs = new Float32Array(logits.length);
  for (let s = 0; s + 1 < offsets.length; s++) {
    const begin = offsets[s]!;
    const end = offsets[s + 1]!;
    if (begin === end)
      throw new WorkbenchError('failure', `expected at least one legal action, got none, at state ${s}`);
    let max = -Infinity;
    for (let i = begin; i < end; i++) if (logits[i]! > max) max = logits[i]!;
    let sum = 0;
    for (let i = begin; i < end; i++) sum += Math.exp(logits[i]! - max);
    if (!Number.isFinite(sum)) {
      const first = firstNotFinite('logits', logits.subarray(begin, end))!;
      throw new Diverged({ ...first, index: begin + first.index });
    }
    const logSum = max + Math.log(sum);
    for (let i = begin; i < end; i++) logProbs[i] = logits[i]! - logSum;
  }
  return logProbs;
}

/** Entropy of each state's distribution in nats, float64 [numStates]. @param probs exponentials of `logProbs`, where they are at hand */
export function segmentEntropy(
  logProbs: Float32Array,
  offsets: Int32Array,
  probs: Float64Array = exponentials(logProbs),
): Float64Array {
  const entropy = new Float64Array(offsets.length - 1);
  for (let s = 0; s < entropy.length; s++) {
    for (let i = offsets[s]!; i < offsets[s + 1]!; i++) entropy[s]! -= probs[i]! * logProbs[i]!;
  }
  return entropy;
}

/** Probabilities, float64 [numActions]. */
export function exponentials(logProbs: Float32Array): Float64Array {
  const probs = new Float64Array(logProbs.length);
  for (let i = 0; i < probs.length; i++) probs[i] = Math.exp(logProbs[i]!);
  return probs;
}

/** Draws one action of one state; returns its index inside the state's list. */
export function sampleSegment(logProbs: Float32Array, begin: number, end: number, rng: Rng): number {
  let remaining = rng.uniform();
  for (let i = begin; i < end; i++) {
    remaining -= Math.exp(logProbs[i]!);
    if (remaining < 0) return i - begin;
  }
  // Rounding left a sliver above the sum: the most likely action takes it.
  return argmaxSegment(logProbs, begin, end);
}

/** The most likely action of one state, ties to the first; its index inside the state's list. */
export function argmaxSegment(logProbs: Float32Array, begin: number, end: number): number {
  let best = begin;
  for (let i = begin + 1; i < end; i++) if (logProbs[i]! > logProbs[best]!) best = i;
  return best - begin;
}

/** Shares in proportion to exp(score / temperature). */
export function softmax(scores: ArrayLike<number>, temperature = 1): Float64Array {
  const most = Math.max(...Array.from(scores));
  const powers = Float64Array.from(scores, (score) => Math.exp((score - most) / temperature));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** Segments one behind the other. */
export function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}
