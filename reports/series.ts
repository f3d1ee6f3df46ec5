/** Metrics of runs as curves, one a seed, smoothed, and their mean with an interval; figures averaged over seeds. */
import type { Estimate, EvaluationMetrics } from '../src/run/figures.js';
import type { MetricRecord, TimingRecord } from '../src/run/records.js';
import { courseOf, deviationOf, meanOf, type Course } from './plots/smoothing.js';

/** Values of one metric of one run by step, in the order they were logged; a step logged again counts once, its last value. */
export type Series = ReadonlyMap<number, number>;

/** One measure over steps: each seed, their mean, and its interval where there are enough seeds. */
export interface Curve extends Course {
  /** Steps that every seed has. */
  steps: number[];
  /** One array a seed, as logged. */
  raw: number[][];
  /** Updates in the centred moving mean of what is drawn; 1 is not smoothed. */
  window: number;
}

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
  const raw = series.map((one) => steps.map((step) => one.get(step)!));
  return { steps, raw, window, ...courseOf({ seeds: raw }, window) };
}

/** The largest of any number of values: a call of `Math.max` takes some hundred thousand. -Infinity of nothing. */
export function largest(values: Iterable<number>): number {
  let most = -Infinity;
  for (const value of values) most = Math.max(most, value);
  return most;
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
