/** Metrics of runs as curves, one a seed, smoothed, and their mean with an interval; figures averaged over seeds. */
import type { Estimate, EvaluationMetrics } from '../src/run/figures.js';
import type { MetricRecord, TimingRecord } from '../src/run/records.js';

/** Values of one metric of one run by step, in the order they were logged; a step logged again counts once, its last value. */
export type Series = ReadonlyMap<number, number>;

/** One measure over steps: each seed, their mean, and its interval where there are enough seeds. */
export interface Curve {
  /** Steps that every seed has. */
  steps: number[];
  /** One array a seed, smoothed, values at `steps`. */
  seeds: number[][];
  mean: number[];
  /** 95 % interval of the mean over seeds (Student's t); absent below three seeds, where it says nothing. */
  interval?: { low: number[]; high: number[] };
  /** Updates in the centred moving mean; 1 is not smoothed. */
  window: number;
}

/** Two-sided 95 % quantiles of Student's t for 2 to 9 degrees of freedom; beyond, the normal's is near enough. */
const tQuantiles = [4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/** The series of every metric of a phase, by key. */
export function seriesOfPhase(records: readonly MetricRecord[], phase: string): Map<string, Map<number, number>> {
  const series = new Map<string, Map<number, number>>();
  for (const record of records) {
    if (record.phase !== phase) continue;
    for (const [key, value] of Object.entries(record.metrics)) {
      if (!series.has(key)) series.set(key, new Map());
      series.get(key)!.set(record.step, value);
    }
  }
  return series;
}

/**
 * Averages the series of several seeds over the steps they share. Evaluations are shown as measured; what is logged at
 * every update of training is smoothed over a twentieth of its length.
 */
export function curveOf(series: readonly Series[], key: string): Curve {
  const [first = new Map<number, number>(), ...others] = series;
  const steps = [...first.keys()].filter((step) => others.every((other) => other.has(step))).sort((a, b) => a - b);
  const window = key.startsWith('eval/') || steps.length < 40 ? 1 : 2 * Math.round(steps.length / 40) + 1;
  const seeds = series.map((one) =>
    movingMean(
      steps.map((step) => one.get(step)!),
      window,
    ),
  );
  const at = (i: number) => seeds.map((values) => values[i]!);
  const mean = steps.map((_, i) => meanOf(at(i)));
  if (seeds.length < 3) return { steps, seeds, mean, window };
  const half = steps.map((_, i) => halfInterval(at(i)));
  const low = mean.map((value, i) => value - half[i]!);
  const high = mean.map((value, i) => value + half[i]!);
  return { steps, seeds, mean, interval: { low, high }, window };
}

/** Mean over a centred window, cut at the ends; not-a-number values are left out of it. */
export function movingMean(values: readonly number[], window: number): number[] {
  const reach = (window - 1) / 2;
  return values.map((_, i) =>
    meanOf(values.slice(Math.max(0, i - reach), i + reach + 1).filter((v) => !Number.isNaN(v))),
  );
}

/** The largest of any number of values: a call of `Math.max` takes some hundred thousand. -Infinity of nothing. */
export function largest(values: Iterable<number>): number {
  let most = -Infinity;
  for (const value of values) most = Math.max(most, value);
  return most;
}

/** Arithmetic mean; NaN of nothing. */
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

/** What a phase of a run took up to each of its steps: steps in the environment, or seconds of wall time. */
export type Taken = 'time/env_steps' | 'seconds';

/**
 * What was taken up to each step of a phase, the mean over runs; undefined where some run tells nothing of it.
 * @param runs the timings of each run
 */
export function takenUpTo(
  runs: readonly TimingRecord[][],
  phase: string,
  what: Taken,
): Map<number, number> | undefined {
  const sums = runs.map((timings) => {
    const taken = new Map<number, number>([[0, 0]]);
    let sum = 0;
    for (const record of timings) {
      if (record.phase !== phase || !(what in record)) continue;
      // A step that was done again after an interruption counts once.
      if (taken.has(record.step)) continue;
      sum += Number(record[what]);
      taken.set(record.step, sum);
    }
    return taken;
  });
  const steps = [...(sums[0]?.keys() ?? [])].filter((step) => sums.every((taken) => taken.has(step)));
  if (steps.length < 2) return undefined;
  return new Map(steps.map((step) => [step, meanOf(sums.map((taken) => taken.get(step)!))]));
}

/** A figure averaged over seeds; its interval is over samples, averaged alike. Fractions in [0, 1]. */
export interface Mean extends Estimate {
  /** Standard deviation over seeds; absent for one. */
  deviation?: number;
}

/** Figures by the name of their metric. */
export type Figures = Readonly<Record<string, Mean>>;

/** A record without what every object has: names are data's, and some would find it. */
export function namedBy<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const record = Object.create(null) as Record<string, T>;
  for (const [name, value] of entries) record[name] = value;
  return record;
}

/** Means over evaluations, of figures that all of them have. */
export function average(all: readonly EvaluationMetrics[]): Figures {
  const keys = Object.keys(all[0] ?? {}).filter((key) => all.every((metrics) => Object.hasOwn(metrics, key)));
  return namedBy(
    keys.map((key): [string, Mean] => {
      const figures = all.map((metrics) => metrics[key]!);
      const mean = (part: 'value' | 'low' | 'high') => meanOf(figures.map((figure) => figure[part]));
      const deviation = deviationOf(figures.map(({ value }) => value));
      const figure = { value: mean('value'), low: mean('low'), high: mean('high'), n: figures[0]!.n };
      return [key, figures.length > 1 ? { ...figure, deviation } : figure];
    }),
  );
}

/** Means over the evaluations that have a slice, for every slice that one of them has. */
export function averageSlices(
  all: readonly { slices: Readonly<Record<string, EvaluationMetrics>> }[],
): Record<string, Figures> {
  const names = [...new Set(all.flatMap(({ slices }) => Object.keys(slices)))];
  const of = (name: string) => all.flatMap(({ slices }) => (Object.hasOwn(slices, name) ? [slices[name]!] : []));
  return namedBy(names.map((name): [string, Figures] => [name, average(of(name))]));
}
