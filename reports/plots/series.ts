/** From the records of a log to plots of its metrics, for reports and the live page: lines, axes, units, smoothing. */
import { countOfEvaluated, studentInterval, wilson } from '../../src/metrics/intervals.js';
import { type Declared, measureOf, phaseWords } from '../titles.js';
import type { LinePlot, PlotLine, Value } from './plot.js';

/** A record of `metrics.jsonl`; null for values that are not finite. */
export type LoggedMetrics = { phase: string; step: number; metrics: Readonly<Record<string, Value>> };

/** Cost of a phase: environment steps, seconds of wall time, milliseconds of processor time, tokens that the language model reads. */
const costs = ['time/env_steps', 'seconds', 'time/cpu_ms', 'time/asked_tokens'] as const;
type Taken = (typeof costs)[number];

/** A record of `timing.jsonl`. */
export type Timing = { readonly phase: string; readonly step: number } & { readonly [Key in Taken]?: Value };

/** The logs of a run so far. */
export type RunLog = { metrics: readonly LoggedMetrics[]; timings: readonly Timing[] };

/** Runs that share a line: its seeds. */
interface RunLine extends Pick<PlotLine, 'label' | 'color' | 'dashed'> {
  runs: readonly RunLog[];
}

/** Horizontal axes. */
export type Axis = 'step' | Taken;

interface PlotOptions {
  /** Figures that evaluations declare, see `src/run/figures.ts`. */
  figures?: readonly Declared[];
  /** Axis shown first, where every line has it. */
  axis: Axis;
  /**
   * True for runs that still train: a line has the steps that any of its seeds logged, and no timing yet of the last
   * one. Default: lines of two steps or more, at the steps that all of their seeds logged.
   */
  growing?: boolean;
  /** Window of the moving mean as a share of the longest line, see `windowOf`. */
  smoothing?: number;
}

/** Plots of all metrics of a phase by key, in logging order. */
export function plotsOf(lines: readonly RunLine[], phase: string, options: PlotOptions): Map<string, LinePlot> {
  const { figures = [], axis, growing = false, smoothing } = options;
  const logged = lines.map(({ runs, ...line }) => ({
    line,
    runs: runs.map(({ metrics, timings }) => ({
      series: seriesOfPhase(metrics, phase),
      ...byCost((cost) => takenBy(timings, phase, cost)),
    })),
  }));
  const keys = new Set(logged.flatMap(({ runs }) => runs.flatMap(({ series }) => [...series.keys()])));
  const plots = new Map<string, LinePlot>();
  for (const key of keys) {
    if (key === countOfEvaluated) continue;
    const all = logged.flatMap(({ line, runs }) => ({ ...line, ...overSeeds(runs, key, growing) }));
    const long = all.filter(({ at }) => at.step.length > 1);
    const drawn = growing || long.length === 0 ? all.filter(({ at }) => at.step.length > 0) : long;
    if (drawn.length === 0) continue;
    const values = drawn.flatMap(({ seeds }) => seeds.flat()).filter((value) => value !== null);
    const axes = axesOf(phase, drawn, axis, growing);
    const measure = measureOf(key, figures, values);
    plots.set(key, {
      ...{ kind: 'lines', ...measure, axes: axes.map(({ label }) => label) },
      lines: drawn.map(({ at: _, counts, ...line }, i) => ({
        ...{ ...line, x: axes.map(({ places }) => places[i]!) },
        ...(measure.unit === '%' && key.startsWith('eval/') && bandOf(line.seeds, counts)),
      })),
      window: windowOf(key, largest(drawn.map(({ at }) => at.step.length)), smoothing),
    });
  }
  return plots;
}

/** Interval of the shares of a single seed over the samples that they are means of; undefined for several seeds, or without counts. */
function bandOf([seed, ...others]: Value[][], counts: Value[]): { low: Value[]; high: Value[] } | undefined {
  if (others.length > 0 || !counts.every((n) => n !== null)) return undefined;
  const ends = seed!.map((share, i) => (share === null ? { low: null, high: null } : wilson(share, counts[i]!)));
  return { low: ends.map(({ low }) => low), high: ends.map(({ high }) => high) };
}

const byCost = <Value>(of: (cost: Taken) => Value) =>
  Object.fromEntries(costs.map((cost) => [cost, of(cost)])) as Record<Taken, Value>;

type AtAxes = Readonly<Record<Axis, Value[]>>;

/** One metric of several seeds over their steps, and where each step lies on every axis: means over the seeds. */
function overSeeds(
  runs: readonly ({ series: ReadonlyMap<string, ReadonlyMap<number, Value>> } & Readonly<
    Record<Taken, ReadonlyMap<number, number>>
  >)[],
  key: string,
  growing: boolean,
): { seeds: Value[][]; at: AtAxes; counts: Value[] } {
  const known = runs.filter(({ series }) => series.has(key));
  const logged = known.map(({ series }) => series.get(key)!);
  const all = new Set(logged.flatMap((values) => [...values.keys()]));
  const steps = [...all].filter((step) => growing || logged.every((values) => values.has(step))).sort((a, b) => a - b);
  const taken = (what: Taken) =>
    steps.map((step): Value => {
      const costs = known.flatMap((run) => run[what].get(step) ?? []);
      return costs.length === 0 || (!growing && costs.length < known.length) ? null : meanOf(costs);
    });
  const seeds = logged.map((values) => steps.map((step) => values.get(step) ?? null));
  const counts = steps.map((step) => known[0]?.series.get(countOfEvaluated)?.get(step) ?? null);
  return { seeds, at: { step: steps, ...byCost(taken) }, counts };
}

/** Axes on which every line has its places, the wanted one first, in units that suit the largest value. */
function axesOf(phase: string, lines: readonly { at: AtAxes }[], wanted: Axis, growing: boolean) {
  const names: Axis[] = ['step', ...costs];
  const inOrder = names.sort((a, b) => Number(b === wanted) - Number(a === wanted));
  return inOrder.flatMap((name) => {
    const places = lines.map(({ at }) => at[name]);
    const isKnown = places.every(
      (one) => one[0] !== null && one.every((place, i) => place !== null || (growing && i === one.length - 1)),
    );
    if (!isKnown) return [];
    if (name === 'step') return [{ label: phaseWords[phase]?.steps ?? 'steps', places }];
    const most = largest(places.flat().map(Number));
    const { scale, unit } = unitsOf[name].findLast(({ from }) => most >= from)!;
    return [{ label: unit, places: places.map((one) => one.map((place) => place && place / scale)) }];
  });
}

/** Units of cost with the largest value from which each is used. */
const unitsOf: Readonly<Record<Taken, readonly { from: number; scale: number; unit: string }[]>> = {
  'time/env_steps': [
    { from: 0, scale: 1, unit: 'environment steps' },
    { from: 20_000, scale: 1000, unit: 'thousands of environment steps' },
    { from: 20_000_000, scale: 1_000_000, unit: 'millions of environment steps' },
  ],
  seconds: [
    { from: 0, scale: 1, unit: 'seconds' },
    { from: 120, scale: 60, unit: 'minutes' },
    { from: 7200, scale: 3600, unit: 'hours' },
  ],
  'time/cpu_ms': [
    { from: 0, scale: 1000, unit: 'processor seconds' },
    { from: 120_000, scale: 60_000, unit: 'processor minutes' },
    { from: 7_200_000, scale: 3_600_000, unit: 'processor hours' },
  ],
  'time/asked_tokens': [
    { from: 0, scale: 1, unit: 'tokens read by the model' },
    { from: 20_000, scale: 1000, unit: 'thousands of tokens read by the model' },
    { from: 20_000_000, scale: 1_000_000, unit: 'millions of tokens read by the model' },
  ],
};

/** Series of every metric of a phase by key: values by step, in logging order; of repeated steps the last counts. */
export function seriesOfPhase<One extends Value>(
  records: readonly { phase: string; step: number; metrics: Readonly<Record<string, One>> }[],
  phase: string,
): Map<string, Map<number, One>> {
  const series = new Map<string, Map<number, One>>();
  for (const record of records) {
    if (record.phase !== phase) continue;
    for (const [key, value] of Object.entries(record.metrics)) {
      if (!series.has(key)) series.set(key, new Map());
      series.get(key)!.set(record.step, value);
    }
  }
  return series;
}

/** Cumulative cost of one run at each step of a phase, from 0 at step 0. A step repeated after an interruption counts once. */
function takenBy(timings: readonly Timing[], phase: string, what: Taken): Map<number, number> {
  const taken = new Map<number, number>([[0, 0]]);
  let sum = 0;
  for (const record of timings) {
    if (record.phase !== phase || !(what in record) || taken.has(record.step)) continue;
    sum += Number(record[what]);
    taken.set(record.step, sum);
  }
  return taken;
}

/** Pace of a run in a phase: steps between its first and last timing record, and seconds; from the start for a single one. */
export function paceOf(timings: readonly Timing[], phase: string): { steps: number; seconds: number } {
  const taken = [...takenBy(timings, phase, 'seconds')];
  // The first record holds the preparation, too.
  const [[from, begun], [to, ended]] = [taken[taken.length > 2 ? 1 : 0]!, taken.at(-1)!];
  return { steps: to - from, seconds: ended - begun };
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

/**
 * Window of the centred moving mean, in points, odd; 1 is unsmoothed: a share of the line for metrics logged at every
 * update, 1 for evaluations and lines of fewer than 40 points.
 */
export function windowOf(key: string, points: number, share = 0.05): number {
  return key.startsWith('eval/') || points < 40 ? 1 : 2 * Math.round((points * share) / 2) + 1;
}

/** Maximum of any number of values (`Math.max` is limited to some hundred thousand arguments). -Infinity if empty. */
export function largest(values: Iterable<number>): number {
  let most = -Infinity;
  for (const value of values) most = Math.max(most, value);
  return most;
}

/** Arithmetic mean; NaN if empty. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
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
  const ends = mean.map((_, i) => studentInterval(at(i)));
  return { seeds: smooth, mean, low: ends.map(({ low }) => low), high: ends.map(({ high }) => high) };
}

const numbers = (values: readonly Value[]): number[] => values.map((value) => value ?? NaN);
