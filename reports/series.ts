/** Run metrics as curves per seed with mean and interval, smoothed; figures averaged over seeds. */
import type { Estimate, EvaluationMetrics } from '../src/run/figures.js';
import { takenBy, type Taken, type Timing } from './plots/logged.js';
import { courseOf, deviationOf, meanOf, type Course } from './plots/smoothing.js';

/** Values of one metric of one run by step, in logging order; of repeated steps the last value counts. */
export type Series = ReadonlyMap<number, number>;

/** One metric over steps: each seed, their mean, and an interval if there are enough seeds. */
export interface Curve extends Course {
  /** Steps present in every seed. */
  steps: number[];
  /** One array per seed, as logged. */
  raw: number[][];
  /** Window of the centred moving mean, in updates; 1 is unsmoothed. */
  window: number;
}

/**
 * Averages the series of several seeds over their shared steps. Evaluations are unsmoothed; metrics logged at every
 * training update are smoothed over a twentieth of their length.
 */
export function curveOf(series: readonly Series[], key: string): Curve {
  const [first = new Map<number, number>(), ...others] = series;
  const steps = [...first.keys()].filter((step) => others.every((other) => other.has(step))).sort((a, b) => a - b);
  const window = key.startsWith('eval/') || steps.length < 40 ? 1 : 2 * Math.round(steps.length / 40) + 1;
  const raw = series.map((one) => steps.map((step) => one.get(step)!));
  return { steps, raw, window, ...courseOf({ seeds: raw }, window) };
}

/** Maximum of any number of values (`Math.max` is limited to some hundred thousand arguments). -Infinity if empty. */
export function largest(values: Iterable<number>): number {
  let most = -Infinity;
  for (const value of values) most = Math.max(most, value);
  return most;
}

/** Mean cumulative cost over runs, given the timings of each; undefined if some run did not log it. */
export function takenUpTo(
  runs: readonly (readonly Timing[])[],
  phase: string,
  what: Taken,
): Map<number, number> | undefined {
  const sums = runs.map((timings) => takenBy(timings, phase, what));
  const steps = [...(sums[0]?.keys() ?? [])].filter((step) => sums.every((taken) => taken.has(step)));
  if (steps.length < 2) return undefined;
  return new Map(steps.map((step) => [step, meanOf(sums.map((taken) => taken.get(step)!))]));
}

/** A figure averaged over seeds; its interval is over samples, averaged likewise. Fractions in [0, 1]. */
export interface Mean extends Estimate {
  /** Standard deviation over seeds; absent for one. */
  deviation?: number;
}

/** Figures by the name of their metric. */
export type Figures = Readonly<Record<string, Mean>>;

/** Creates a record without prototype: keys come from data and may equal names of object members. */
export function namedBy<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const record = Object.create(null) as Record<string, T>;
  for (const [name, value] of entries) record[name] = value;
  return record;
}

/** Means over evaluations, for figures that all of them have. */
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

/** Means per slice over the evaluations that have it. */
export function averageSlices(
  all: readonly { slices: Readonly<Record<string, EvaluationMetrics>> }[],
): Record<string, Figures> {
  const names = [...new Set(all.flatMap(({ slices }) => Object.keys(slices)))];
  const of = (name: string) => all.flatMap(({ slices }) => (Object.hasOwn(slices, name) ? [slices[name]!] : []));
  return namedBy(names.map((name): [string, Figures] => [name, average(of(name))]));
}
