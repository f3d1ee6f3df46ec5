/**
 * Intervals and tests for means over clustered samples. Samples of a dialogue share speakers, topic and earlier paths, so whole dialogues
 * are resampled: intervals over single samples would be too narrow.
 */
import type { Estimate } from '../run/figures.js';
import { Rng } from '../run/seeds.js';
import { percentiles, wilsonAt } from './intervals.js';

/** Mean of a − b with its interval and test. */
export interface PairedDifference extends Estimate {
  /** Two-sided: twice the smaller share of resampled differences on one side of 0, at least 1 / (resamples + 1). */
  pValue: number;
}

/** Number of resamples, seed, and columns of shares. */
export interface BootstrapOptions {
  /** Number of cluster resamples. Default 2,000. */
  resamples?: number;
  /** Default 0: the same samples give the same interval. */
  seed?: number;
  /** Columns with values in [0, 1]: if all are 0 or all 1, their interval still has a width. Default none. */
  shares?: readonly boolean[];
}

/**
 * Means of several columns over the same samples, with 95 % percentile intervals from one set of cluster resamples. For shares that are
 * all 0 or all 1, where resampling is uninformative, the interval is Wilson's over clusters. A single cluster gives an interval without
 * width.
 * @param columns values [numColumns][numSamples]
 * @param clusters cluster id of each sample, such as its dialogue [numSamples]; at least one sample
 * @source Efron and Tibshirani 1993, ch. 13 (percentile interval); Field and Welsh 2007 (cluster bootstrap); Wilson 1927
 */
export function bootstrapMeans(
  columns: readonly ArrayLike<number>[],
  clusters: readonly (string | number)[],
  options: BootstrapOptions = {},
): Estimate[] {
  const means = resampledMeans(columns, clusters, options);
  return columns.map((column, c) => {
    const value = mean(column);
    const interval =
      options.shares?.[c] && (value === 0 || value === 1)
        ? wilsonAt(value, new Set(clusters).size)
        : percentiles(means[c]!);
    return { value, ...interval, n: clusters.length };
  });
}

/**
 * Mean differences a − b of two agents on the same samples, with 95 % interval and two-sided test of "no difference". If every cluster
 * differs equally, the test is the sign test; if shares differ by the maximum, 1 or −1, the interval is Wilson's over clusters.
 * @param a values [numColumns][numSamples]; `b` those of the same samples in the same order
 */
export function pairedDifferences(
  a: readonly ArrayLike<number>[],
  b: readonly ArrayLike<number>[],
  clusters: readonly (string | number)[],
  options: BootstrapOptions = {},
): PairedDifference[] {
  const differences = a.map((column, c) => Float64Array.from(clusters, (_, i) => column[i]! - b[c]![i]!));
  return resampledMeans(differences, clusters, options).map((means, c) => {
    const atMost = means.filter((d) => d <= 0).length;
    const atLeast = means.filter((d) => d >= 0).length;
    const resampled = Math.min(1, (2 * (Math.min(atMost, atLeast) + 1)) / (means.length + 1));
    const value = mean(differences[c]!);
    const interval = percentiles(means);
    if (value === 0 || interval.low !== interval.high)
      return { value, ...interval, n: clusters.length, pValue: resampled };
    const pValue = Math.max(resampled, Math.min(1, 2 * 0.5 ** new Set(clusters).size));
    const isWhole = options.shares?.[c] && Math.abs(value) === 1;
    if (!isWhole) return { value, ...interval, n: clusters.length, pValue };
    const { low, high } = wilsonAt(value === 1 ? 1 : 0, new Set(clusters).size);
    return { value, low: 2 * low - 1, high: 2 * high - 1, n: clusters.length, pValue };
  });
}

/** float64 [numColumns][resamples], each ascending. */
function resampledMeans(
  columns: readonly ArrayLike<number>[],
  clusters: readonly (string | number)[],
  { resamples = 2000, seed = 0 }: BootstrapOptions,
): Float64Array[] {
  const width = columns.length + 1;
  const rowOf = new Map<string | number, number>();
  for (const cluster of clusters) if (!rowOf.has(cluster)) rowOf.set(cluster, rowOf.size);
  const numClusters = rowOf.size;
  // One row per cluster: size, then column sums, so that a draw reads contiguous memory.
  const sums = new Float64Array(numClusters * width);
  clusters.forEach((cluster, i) => {
    const row = rowOf.get(cluster)! * width;
    sums[row]!++;
    columns.forEach((column, c) => (sums[row + 1 + c]! += column[i]!));
  });

  const rng = Rng.named(seed, 'metrics/bootstrap');
  const means = columns.map(() => new Float64Array(resamples));
  const totals = new Float64Array(width);
  for (let resample = 0; resample < resamples; resample++) {
    totals.fill(0);
    for (let draw = 0; draw < numClusters; draw++) {
      const row = rng.integer(numClusters) * width;
      for (let c = 0; c < width; c++) totals[c]! += sums[row + c]!;
    }
    means.forEach((column, c) => (column[resample] = totals[c + 1]! / totals[0]!));
  }
  return means.map((column) => column.sort());
}

function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}

/**
 * Mean over a group minus the mean over the rest, with a 95 % percentile interval over clusters: clusters are drawn with all samples of
 * both groups. Resamples with an empty group are dropped.
 * @param values of the samples
 * @param inGroup membership per sample; both groups need at least one
 * @param clusters cluster id of each sample, such as its dialogue
 */
export function groupDifference(
  values: ArrayLike<number>,
  inGroup: readonly boolean[],
  clusters: readonly string[],
  { resamples = 2000, seed = 0 }: { resamples?: number; seed?: number } = {},
): Estimate {
  const rowOf = new Map<string, number>();
  for (const cluster of clusters) if (!rowOf.has(cluster)) rowOf.set(cluster, rowOf.size);
  // One row per cluster: sum and count of the group, sum and count of the rest.
  const sums = new Float64Array(4 * rowOf.size);
  clusters.forEach((cluster, i) => {
    const place = 4 * rowOf.get(cluster)! + (inGroup[i] ? 0 : 2);
    sums[place]! += values[i]!;
    sums[place + 1]!++;
  });
  const differenceOver = (count: number, row: (draw: number) => number): number => {
    const totals = new Float64Array(4);
    for (let draw = 0; draw < count; draw++) {
      const begin = 4 * row(draw);
      for (let k = 0; k < 4; k++) totals[k]! += sums[begin + k]!;
    }
    return totals[0]! / totals[1]! - totals[2]! / totals[3]!;
  };
  const rng = Rng.named(seed, 'metrics/group-difference');
  const drawn = Array.from({ length: resamples }, () => differenceOver(rowOf.size, () => rng.integer(rowOf.size)))
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const at = (share: number) => drawn[Math.round(share * (drawn.length - 1))] ?? NaN;
  return { value: differenceOver(rowOf.size, (draw) => draw), low: at(0.025), high: at(0.975), n: clusters.length };
}
