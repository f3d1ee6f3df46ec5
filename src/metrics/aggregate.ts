/**
 * Aggregates of scores over several data sets with a few runs each. Scores [numSets][numRuns] are of one scale, such as shares; data sets
 * may have different numbers of runs, each at least one.
 * @source Agarwal et al. 2021, Deep Reinforcement Learning at the Edge of the Statistical Precipice (rliable)
 */
import type { Estimate } from '../run/figures.js';
import { Rng } from '../run/seeds.js';
import { type BootstrapOptions } from './bootstrap.js';
import { mean, percentiles } from './intervals.js';

/** One list of scores a data set, one score a run. */
export type RunScores = readonly (readonly number[])[];

/** Mean of the middle half of all scores, data sets together: a quarter of them, rounded down, is cut from each end. */
export function interquartileMean(scores: RunScores): number {
  const all = Float64Array.from(scores.flat()).sort();
  const cut = Math.floor(all.length / 4);
  return mean(all.subarray(cut, all.length - cut));
}

/** Mean distance of scores from `target`; what lies above it does not make up for what lies below. */
export function optimalityGap(scores: RunScores, target = 1): number {
  return target - mean(scores.flat().map((score) => Math.min(score, target)));
}

/**
 * Probability that a run of `a` has a higher score than one of `b` on a data set drawn at random, ties counted half.
 * @throws RangeError for different numbers of data sets
 */
export function probabilityOfImprovement(a: RunScores, b: RunScores): number {
  if (a.length !== b.length) throw new RangeError(`expected ${a.length} data sets, got ${b.length}`);
  const wins = (own: number, other: number) => (own > other ? 1 : own === other ? 0.5 : 0);
  return mean(a.map((runs, set) => mean(runs.map((own) => mean(b[set]!.map((other) => wins(own, other)))))));
}

/** Share of runs above each threshold, data sets weighted alike: the performance profile of scores. */
export function performanceProfile(scores: RunScores, thresholds: readonly number[]): number[] {
  return thresholds.map((threshold) =>
    mean(scores.map((runs) => runs.filter((score) => score > threshold).length / runs.length)),
  );
}

/**
 * A statistic of one or more agents' scores with its 95 % percentile interval: runs are drawn within each data set. With a single run a
 * data set the interval has no width.
 */
export function overRuns<Agents extends RunScores[]>(
  statistic: (...agents: Agents) => number,
  agents: Agents,
  { resamples = 2000, seed = 0 }: Pick<BootstrapOptions, 'resamples' | 'seed'> = {},
): Estimate {
  const rng = Rng.named(seed, 'metrics/over-runs');
  const drawn = () =>
    agents.map((scores) => scores.map((runs) => runs.map(() => runs[rng.integer(runs.length)]!))) as unknown as Agents;
  const values = Float64Array.from({ length: resamples }, () => statistic(...drawn())).sort();
  return { value: statistic(...agents), ...percentiles(values), n: agents[0]!.flat().length };
}
