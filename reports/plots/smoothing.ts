/** Smoothed seeds, their mean and its interval. */
import type { PlotLine, Value } from './plot.js';

/** Two-sided 95 % quantiles of Student's t for 2 to 9 degrees of freedom; above, the normal quantile is close enough. */
const tQuantiles = [4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/** Arithmetic mean; NaN if empty. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Standard deviation of a sample; NaN for fewer than two values. */
export function deviationOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

/** Half of the 95 % interval of the mean (Student's t), for at least three values. */
export function halfInterval(values: readonly number[]): number {
  const quantile = tQuantiles[values.length - 3] ?? 1.96;
  return (quantile * deviationOf(values)) / Math.sqrt(values.length);
}

/** Mean over a centred window, cut at the ends; NaN values are skipped. */
export function movingMean(values: readonly number[], window: number): number[] {
  if (window <= 1) return [...values];
  const reach = (window - 1) / 2;
  // Prefix sums and counts: the cost does not depend on the window.
  const sums = new Float64Array(values.length + 1);
  const counts = new Float64Array(values.length + 1);
  values.forEach((value, i) => {
    sums[i + 1] = sums[i]! + (Number.isNaN(value) ? 0 : value);
    counts[i + 1] = counts[i]! + (Number.isNaN(value) ? 0 : 1);
  });
  return values.map((_, i) => {
    const [from, to] = [Math.max(0, i - reach), Math.min(values.length, i + reach + 1)];
    return (sums[to]! - sums[from]!) / (counts[to]! - counts[from]!);
  });
}

/** A line ready to draw: values at each point, NaN where missing. */
export interface Course {
  /** One array per seed, smoothed. */
  seeds: number[][];
  mean: number[];
  low?: number[];
  high?: number[];
}

/** Mean, interval and seeds of a line under a moving mean of `window` points. */
export function courseOf({ seeds, low, high }: Pick<PlotLine, 'seeds' | 'low' | 'high'>, window: number): Course {
  const smooth = seeds.map((values) => movingMean(numbers(values), window));
  const at = (i: number) => smooth.map((values) => values[i]!);
  const mean = (smooth[0] ?? []).map((_, i) => meanOf(at(i)));
  if (low && high) return { seeds: smooth, mean, low: numbers(low), high: numbers(high) };
  if (seeds.length < 3) return { seeds: smooth, mean };
  const half = mean.map((_, i) => halfInterval(at(i)));
  return { seeds: smooth, mean, low: mean.map((one, i) => one - half[i]!), high: mean.map((one, i) => one + half[i]!) };
}

const numbers = (values: readonly Value[]): number[] => values.map((value) => value ?? NaN);
