/** How a set of sizes is spread. */

/** Mean, median, 95th percentile and largest value; all 0 for no values. */
export interface Spread {
  mean: number;
  median: number;
  p95: number;
  max: number;
}

/** Percentiles are by nearest rank: always one of the values; the median of an even count is the lower one. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { mean: 0, median: 0, p95: 0, max: 0 };
  const sorted = Float64Array.from(values).sort();
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1]!;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return { mean, median: rank(0.5), p95: rank(0.95), max: sorted.at(-1)! };
}
