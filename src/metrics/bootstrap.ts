/**
 * Intervals and tests for means over clustered samples, such as those of a dialogue: whole clusters are resampled, else intervals would be too narrow.
 */
import type { Estimate } from '../run/figures.js';
import { Rng } from '../run/seeds.js';
import { mean, percentiles, wilson } from './intervals.js';

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
    return { value, ...intervalOf(value, means[c]!, clusters, options.shares?.[c] === true), n: clusters.length };
  });
}

/** @param means of the resamples, ascending @param share values lie in [0, 1] */
function intervalOf(value: number, means: Float64Array, clusters: readonly (string | number)[], share: boolean) {
  return share && (value === 0 || value === 1) ? wilson(value, new Set(clusters).size) : percentiles(means);
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
  return resampledMeans(differences, clusters, options).map((means, c) =>
    testedDifference(mean(differences[c]!), means, clusters, options.shares?.[c] === true),
  );
}

/** @param means of the resamples, ascending @param share the difference is of values in [0, 1] */
function testedDifference(
  value: number,
  means: Float64Array,
  clusters: readonly (string | number)[],
  share: boolean,
): PairedDifference {
  const atMost = means.filter((d) => d <= 0).length;
  const atLeast = means.filter((d) => d >= 0).length;
  const resampled = Math.min(1, (2 * (Math.min(atMost, atLeast) + 1)) / (means.length + 1));
  const difference = { value, ...percentiles(means), n: clusters.length };
  if (value === 0 || difference.low !== difference.high) return { ...difference, pValue: resampled };
  const pValue = Math.max(resampled, Math.min(1, 2 * 0.5 ** new Set(clusters).size));
  if (!(share && Math.abs(value) === 1)) return { ...difference, pValue };
  const { low, high } = wilson(value === 1 ? 1 : 0, new Set(clusters).size);
  return { ...difference, low: 2 * low - 1, high: 2 * high - 1, pValue };
}

/** Number of seeds from which on they are drawn as well; fewer say too little of how runs differ. */
export const leastSeeds = 3;

/** Options of a single figure; `share`: its values lie in [0, 1]. */
type SeedOptions = Omit<BootstrapOptions, 'shares'> & { share?: boolean };

/**
 * Mean of one figure over seeds and samples, with a 95 % percentile interval of two levels: from three seeds on, seeds and clusters are
 * both drawn, crossed, as every seed answers the same samples. Of fewer the seeds stay: the interval is of these runs alone.
 * @param seeds values [numSeeds][numSamples]
 * @param clusters cluster id of each sample
 * @source Owen and Eckles 2012 (bootstrap of crossed factors)
 */
export function meanOverSeeds(
  seeds: readonly ArrayLike<number>[],
  clusters: readonly (string | number)[],
  { share = false, ...options }: SeedOptions = {},
): Estimate {
  const value = mean(seeds.map(mean));
  const means = drawnMeans(seeds, clusters, options).sort();
  return { value, ...intervalOf(value, means, clusters, share), n: clusters.length };
}

/**
 * Mean difference a − b of one figure, seeds drawn as `meanOverSeeds` does. Where `paired`, seed i of both belongs together, such as a
 * run and its clone: they are drawn together.
 * @param a, b values [numSeeds][numSamples] of the same samples
 */
export function differenceOverSeeds(
  a: readonly ArrayLike<number>[],
  b: readonly ArrayLike<number>[],
  clusters: readonly (string | number)[],
  { paired, share = false, ...options }: SeedOptions & { paired: boolean },
): PairedDifference {
  const drawn = drawnMeans(a, clusters, options);
  const others = drawnMeans(b, clusters, options, paired ? '' : 'b');
  const means = drawn.map((own, i) => own - others[i]!).sort();
  return testedDifference(mean(a.map(mean)) - mean(b.map(mean)), means, clusters, share);
}

/** float64 [resamples]; the draws of clusters are the same for the same clusters, those of seeds for the same `stream`. */
function drawnMeans(
  seeds: readonly ArrayLike<number>[],
  clusters: readonly (string | number)[],
  { resamples = 2000, seed = 0 }: BootstrapOptions,
  stream = '',
): Float64Array {
  const counts = new Float64Array(clusters.length).fill(1);
  const { drawn } = clusterTotals([counts, ...seeds], clusters, resamples, Rng.named(seed, 'metrics/bootstrap'));
  const rng = seeds.length < leastSeeds ? undefined : Rng.named(seed, `metrics/bootstrap/seeds${stream}`);
  return Float64Array.from(drawn, (totals) => {
    const sum = seeds.reduce((total, _, s) => total + totals[1 + (rng?.integer(seeds.length) ?? s)]!, 0);
    return sum / (seeds.length * totals[0]!);
  });
}

/** float64 [numColumns][resamples], each ascending. */
function resampledMeans(
  columns: readonly ArrayLike<number>[],
  clusters: readonly (string | number)[],
  { resamples = 2000, seed = 0 }: BootstrapOptions,
): Float64Array[] {
  const counts = new Float64Array(clusters.length).fill(1);
  const { drawn } = clusterTotals([counts, ...columns], clusters, resamples, Rng.named(seed, 'metrics/bootstrap'));
  return columns.map((_, c) => {
    // A loop: `Float64Array.from` with a function takes most of the time of an evaluation.
    const means = new Float64Array(drawn.length);
    for (const [i, totals] of drawn.entries()) means[i] = totals[c + 1]! / totals[0]!;
    return means.sort();
  });
}

/** Sums of each column over all clusters, and over as many drawn ones, once a resample. */
function clusterTotals(
  columns: readonly ArrayLike<number>[],
  clusters: readonly (string | number)[],
  resamples: number,
  rng: Rng,
): { all: Float64Array; drawn: Float64Array[] } {
  const width = columns.length;
  const rowOf = new Map<string | number, number>();
  for (const cluster of clusters) if (!rowOf.has(cluster)) rowOf.set(cluster, rowOf.size);
  // One row of sums per cluster, so that a draw reads contiguous memory.
  const sums = new Float64Array(rowOf.size * width);
  clusters.forEach((cluster, i) => {
    const row = rowOf.get(cluster)! * width;
    columns.forEach((column, c) => (sums[row + c]! += column[i]!));
  });
  const totalsOver = (rowAt: (draw: number) => number) => {
    const totals = new Float64Array(width);
    for (let draw = 0; draw < rowOf.size; draw++) {
      const row = rowAt(draw) * width;
      for (let c = 0; c < width; c++) totals[c]! += sums[row + c]!;
    }
    return totals;
  };
  const drawn = Array.from({ length: resamples }, () => totalsOver(() => rng.integer(rowOf.size)));
  return { all: totalsOver((draw) => draw), drawn };
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
  { resamples = 2000, seed = 0 }: Pick<BootstrapOptions, 'resamples' | 'seed'> = {},
): Estimate {
  const column = (of: (i: number) => number, group: boolean) => inGroup.map((own, i) => (own === group ? of(i) : 0));
  const columns = [true, false].flatMap((group) => [column((i) => values[i]!, group), column(() => 1, group)]);
  const { all, drawn } = clusterTotals(columns, clusters, resamples, Rng.named(seed, 'metrics/group-difference'));
  const difference = (totals: Float64Array) => totals[0]! / totals[1]! - totals[2]! / totals[3]!;
  const sorted = Float64Array.from(drawn, difference).filter(Number.isFinite).sort();
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? NaN;
  return { value: difference(all), low: at(0.025), high: at(0.975), n: clusters.length };
}
