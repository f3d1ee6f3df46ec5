/** Seeded choices. */
import type { Rng } from '../../src/run/seeds.js';

/** One of `values`, each as likely. */
export function pick<T>(rng: Rng, values: readonly T[]): T {
  return values[rng.integer(values.length)]!;
}

/** One of `values` by weight; the weights need not sum to 1, and one must be positive. */
export function pickWeighted<T>(rng: Rng, values: readonly T[], weightOf: (value: T) => number): T {
  const weights = values.map(weightOf);
  let left = rng.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < values.length; i++) {
    left -= weights[i]!;
    if (left < 0) return values[i]!;
  }
  return values.at(-1)!;
}

/** Whether something of this probability happens. */
export const chance = (rng: Rng, probability: number): boolean => rng.uniform() < probability;

/** An index in [0, n), small ones far more often: density falls with the power `1 - 1/skew`; skew 1 is uniform. */
export const skewed = (rng: Rng, n: number, skew: number): number => Math.floor(n * rng.uniform() ** skew);
