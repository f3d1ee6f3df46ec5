/** Records of a sweep folder as stored: written by a sweep, read by listings and pages. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { readJsonLines } from './json-lines.js';
import { type Listed, listPlaces } from './places.js';
import { asWritten, furtherKey, openObject, readJsonFile } from './read-json.js';
import { anyNumber } from './records.js';
import { isHeld } from './run-lock.js';

const text = z.string();

const dimension = z.discriminatedUnion('kind', [
  /** Every value is tried. */
  openObject({ key: text, kind: z.literal('grid'), values: z.array(furtherKey) }),
  /** One of the values is drawn. */
  openObject({ key: text, kind: z.literal('choice'), values: z.array(furtherKey) }),
  /** Uniform, or uniform in the logarithm; of `int` whole numbers, both ends included. */
  openObject({ key: text, kind: z.enum(['uniform', 'log', 'int', 'logint']), low: anyNumber, high: anyNumber }),
]);
/** One setting of a sweep with its values or range. */
export type Dimension = z.output<typeof dimension>;

const sweepShape = z.object({
  schemaVersion: z.literal(1),
  /** Source as given: a preset or a file. */
  preset: text,
  /** Overrides of every trial, as given by `--set`. */
  overrides: z.array(text),
  /** Plugin files loaded by every run, as given. */
  plugins: z.array(text).optional(),
  /** The preset with these overrides, every key with its value: the base of all trials. */
  config: z.record(text, z.unknown()),
  dimensions: z.array(dimension),
  trials: z.int().min(1),
  seeds: z.array(z.int()),
  /** Seed of the samples. */
  seed: z.int(),
  /** Figure that selects; absent: the main figure of the task, which also selects the best checkpoint. */
  metric: text.optional(),
  better: z.enum(['high', 'low']),
  /** Rungs at `first`, `first`·η, `first`·η² … updates. */
  halving: openObject({ first: z.int(), eta: z.int() }).optional(),
});
/** `sweep.json`: definition of a sweep. No time and no path, so that equal sweeps have equal files. */
export type SweepRecord = z.output<typeof sweepShape>;
/** Its shape. */
export const sweepRecord: z.ZodType<SweepRecord> = asWritten(openObject(sweepShape.shape));

const at = { trial: z.int().min(1), seed: z.int() };

const trialEvent = z.discriminatedUnion('kind', [
  /** Settings of a trial, recorded before its first run. */
  openObject({ kind: z.literal('trial'), trial: z.int().min(1), set: z.record(text, furtherKey) }),
  /** A run reached a rung of halving, with the decision. */
  openObject({
    kind: z.literal('rung'),
    ...at,
    rung: z.int(),
    /** Best evaluation so far. */
    value: anyNumber,
    kept: z.boolean(),
  }),
  /** End of a run. `stopped`: by halving. */
  openObject({
    kind: z.literal('end'),
    ...at,
    state: z.enum(['finished', 'stopped', 'failed']),
    /** Best value on valid with its figure, phase and update; absent if nothing was evaluated. */
    value: anyNumber.optional(),
    metric: text.optional(),
    phase: text.optional(),
    step: z.int().optional(),
    reason: text.optional(),
  }),
  /** A failed run is started again. */
  openObject({ kind: z.literal('retry'), ...at }),
]);
/** One line of `trials.jsonl`. No wall clock. */
export type TrialEvent = z.output<typeof trialEvent>;

/** Files of a sweep; a run of a trial has a folder like every run. */
export const sweepFiles = (folder: string) => ({
  sweep: join(folder, 'sweep.json'),
  trials: join(folder, 'trials.jsonl'),
  lock: join(folder, '.lock'),
  /** Output of the trial processes, one file each. */
  logs: join(folder, 'logs'),
  report: join(folder, 'report'),
});

/** The name of a trial's run: `trial-007-s2`. */
export const trialName = (trial: number, seed: number): string => `trial-${String(trial).padStart(3, '0')}-s${seed}`;

/** A sweep for listings and pages. */
export interface SweepInfo {
  id: string;
  /** Absolute path. */
  folder: string;
  record: SweepRecord;
  events: readonly TrialEvent[];
  /** True if a live process works on it. */
  running: boolean;
}

/** The sweep in a folder, read without locking; undefined if there is none. @throws WorkbenchError `data` for a broken one */
export function sweepIn(folder: string): SweepInfo | undefined {
  const place = resolve(folder);
  const { sweep, trials, lock } = sweepFiles(place);
  if (!existsSync(sweep)) return undefined;
  return {
    id: basename(place),
    folder: place,
    record: readJsonFile(sweep, sweepRecord, 'a sweep'),
    events: existsSync(trials) ? readJsonLines(trials, trialEvent) : [],
    running: isHeld(lock),
  };
}

/** Sweeps below a folder. */
export const listSweeps = (runs: string): Listed<SweepInfo>[] =>
  listPlaces(runs, 'sweep', (folder) => sweepIn(folder)!);

/** End of a run. */
export type TrialEnd = Extract<TrialEvent, { kind: 'end' }>;

/** One run of a trial; a trial has one per seed. */
export interface TrialRun {
  seed: number;
  /** Name of its folder inside the sweep's. */
  name: string;
  /** Final state; undefined while it waits or trains. */
  end?: TrialEnd | undefined;
  /** Decisions on its rungs, in order. */
  rungs: Extract<TrialEvent, { kind: 'rung' }>[];
}

/** A trial: settings and results. */
export interface Trial {
  trial: number;
  set: Record<string, unknown>;
  runs: TrialRun[];
  /** `finished` if every seed is; `failed` if one failed; `waiting` also while one trains. */
  state: 'waiting' | 'finished' | 'stopped' | 'failed';
  /** Mean over finished and evaluated seeds. */
  value?: number | undefined;
  reason?: string | undefined;
}

/** Started trials by number, from the lines of the log. */
export function trialsOf({ seeds, halving }: SweepRecord, events: readonly TrialEvent[]): Trial[] {
  const trials = new Map<number, Trial>();
  const runOf = ({ trial, seed }: { trial: number; seed: number }) =>
    trials.get(trial)?.runs.find((run) => run.seed === seed);
  for (const event of events) {
    if (event.kind !== 'trial' || trials.has(event.trial)) continue;
    const { trial, set } = event;
    const runs = seeds.map((seed) => ({ seed, name: trialName(trial, seed), rungs: [] }));
    trials.set(trial, { trial, set, runs, state: 'waiting' });
  }
  for (const event of events) {
    if (event.kind === 'trial') continue;
    const run = runOf(event);
    if (event.kind === 'rung') run?.rungs.push(event);
    else if (run) run.end = event.kind === 'end' ? event : undefined;
  }
  return [...trials.values()]
    .sort((a, b) => a.trial - b.trial)
    .map((trial) => ({ ...trial, ...outcomeOf(trial.runs, halving !== undefined) }));
}

function outcomeOf(runs: readonly TrialRun[], halves: boolean): Pick<Trial, 'state' | 'value' | 'reason'> {
  const ends = runs.flatMap(({ end }) => end ?? []);
  const values = ends.flatMap(({ value }) => (value === undefined ? [] : [value]));
  const value = values.length === 0 ? undefined : values.reduce((sum, one) => sum + one, 0) / values.length;
  const first = (state: TrialEnd['state']) => ends.find((end) => end.state === state);
  const [stopped, failed] = [first('stopped'), first('failed')];
  // With halving, a trial whose first seed is stopped or fails gets no other seeds.
  const over =
    ends.length === runs.length || (halves && runs[0]?.end !== undefined && runs[0].end.state !== 'finished');
  if (!over) return { state: 'waiting', value };
  if (failed) {
    const count = ends.filter((end) => end.state === 'failed').length;
    const which = runs.length > 1 ? `seed ${failed.seed}${count > 1 ? ` and ${count - 1} more` : ''}: ` : '';
    return { state: 'failed', value, reason: `${which}${failed.reason ?? ''}` };
  }
  if (stopped) return { state: 'stopped', value, reason: stopped.reason };
  return { state: 'finished', value };
}

/** Finished trials, best first; ties go to the earlier one. */
export function rankedTrials(trials: readonly Trial[], better: SweepRecord['better']): (Trial & { value: number })[] {
  const sign = better === 'high' ? -1 : 1;
  return trials
    .flatMap((trial) =>
      trial.state === 'finished' && trial.value !== undefined ? [{ ...trial, value: trial.value }] : [],
    )
    .sort((a, b) => sign * (a.value - b.value) || a.trial - b.trial);
}

/** One setting of a sweep as an axis of its values. */
export interface SweepAxis {
  key: string;
  /** Distances are logarithmic. */
  isLog: boolean;
  /** Named values in order; undefined for a range of numbers. */
  values?: readonly unknown[];
  /** Ends of the range; absent with `values`. */
  low?: number;
  high?: number;
  /** Position of a value in [0, 1]. Among n ordered values, the middle of the n-th part. */
  placeOf(value: unknown): number;
}

/** Axes of a sweep in command-line order. */
export function axesOf({ dimensions }: Pick<SweepRecord, 'dimensions'>): SweepAxis[] {
  return dimensions.map((one) => {
    if (one.kind === 'grid' || one.kind === 'choice') return axisOfValues(one.key, inOrder(one.values));
    return axisOfRange(one.key, one.low, one.high, one.kind.startsWith('log'), one.kind.endsWith('int'));
  });
}

/** Numbers ascend; all else keeps its order. */
function inOrder(values: readonly unknown[]): unknown[] {
  const isNumeric = values.every((value) => typeof value === 'number');
  return isNumeric ? [...(values as number[])].sort((a, b) => a - b) : [...values];
}

function axisOfValues(key: string, values: readonly unknown[]): SweepAxis {
  const texts = values.map((value) => JSON.stringify(value));
  return {
    key,
    isLog: false,
    values,
    placeOf: (value) => (texts.indexOf(JSON.stringify(value)) + 0.5) / values.length,
  };
}

/** @param whole each integer has a separate part, as wide as its probability */
function axisOfRange(key: string, low: number, high: number, isLog: boolean, whole: boolean): SweepAxis {
  const scale = isLog ? Math.log : (value: number) => value;
  const [begin, end] = [scale(low), scale(whole ? high + 1 : high)];
  return {
    ...{ key, isLog, low, high },
    placeOf(value) {
      const middle = whole ? (scale(Number(value)) + scale(Number(value) + 1)) / 2 : scale(Number(value));
      return Math.min(1, Math.max(0, (middle - begin) / (end - begin)));
    },
  };
}
