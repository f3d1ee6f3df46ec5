/** Means and 95 % intervals by formula, for pages in browsers too: no file or package here. */

/** Arithmetic mean; NaN if empty. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}

/** Standard deviation of a sample; NaN for fewer than two values. */
export const deviation = (values: readonly number[]): number => Math.sqrt(variance(values));

function variance(values: readonly number[]): number {
  const centre = mean(values);
  return values.reduce((sum, one) => sum + (one - centre) ** 2, 0) / (values.length - 1);
}

/** 97.5 % quantile of the t distribution, by degrees of freedom from 1. @source any table of the distribution */
const quantiles = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/**
 * Mean with its 95 % interval, for independent values such as one per seed, at least one; of a single value both ends are NaN.
 * @source Student 1908
 */
export function studentInterval(values: readonly number[]): { value: number; low: number; high: number; n: number } {
  const n = values.length;
  const value = mean(values);
  const half = (quantiles[n - 2] ?? quantiles.at(-1)!) * Math.sqrt(variance(values) / n);
  return n < 2 ? { value, low: NaN, high: NaN, n } : { value, low: value - half, high: value + half, n };
}

/** Two-sided 95 % quantile of the normal distribution. */
const z = 1.959964;

/**
 * 95 % interval of a share in [0, 1] of `n` independent values: of 10 that are all 1, from 72 % to 100 %. Values between 0 and 1 vary less, so that
 * it is too wide for them rather than too narrow.
 * @source Wilson 1927
 */
export function wilson(share: number, n: number): { low: number; high: number } {
  const middle = (share + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
  const half = (z / (1 + z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
  return { low: share === 0 ? 0 : middle - half, high: share === 1 ? 1 : middle + half };
}

/** 2.5 % and 97.5 % percentiles. @param sorted ascending */
export function percentiles(sorted: Float64Array): { low: number; high: number } {
  const at = (share: number) => {
    const position = share * (sorted.length - 1);
    const below = sorted[Math.floor(position)]!;
    return below + (sorted[Math.ceil(position)]! - below) * (position - Math.floor(position));
  };
  return { low: at((1 - 0.95) / 2), high: at((1 + 0.95) / 2) };
}

/** Key in training logs of the number of samples that the figures under `eval/` of the same record are means of. */
export const countOfEvaluated = 'eval/n';
