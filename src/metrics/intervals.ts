/** 95 % intervals: of resamples, of extreme shares, of a mean over a few runs. */
import type { Estimate } from '../run/figures.js';

/** 97.5 % quantile of the t distribution, by degrees of freedom from 1. @source any table of the distribution */
const quantiles = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/**
 * Mean with its 95 % interval, for independent values such as one per seed, at least one; of a single value both ends are NaN.
 * @source Student 1908
 */
export function studentInterval(values: readonly number[]): Estimate {
  const n = values.length;
  const value = values.reduce((sum, one) => sum + one, 0) / n;
  const variance = values.reduce((sum, one) => sum + (one - value) ** 2, 0) / (n - 1);
  const half = (quantiles[n - 2] ?? quantiles.at(-1)!) * Math.sqrt(variance / n);
  return n < 2 ? { value, low: NaN, high: NaN, n } : { value, low: value - half, high: value + half, n };
}

/** Two-sided 95 % quantile of the normal distribution. */
const z = 1.959964;

/** Wilson's 95 % interval of a share of 0 or 1 over this many independent clusters: of 10, from 72 % to 100 %. */
export function wilsonAt(share: 0 | 1, clusters: number): { low: number; high: number } {
  const away = z ** 2 / (clusters + z ** 2);
  return share === 1 ? { low: 1 - away, high: 1 } : { low: 0, high: away };
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
