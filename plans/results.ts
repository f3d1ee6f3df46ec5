/** Results of a sweep: its trials in order of their figure, the best one, and the command that trains it again. */
import { join } from 'node:path';
import { functionalAnova } from '../src/metrics/functional-anova.js';
import { studentInterval } from '../src/metrics/intervals.js';
import { rankedTrials, trialsOf, type SweepInfo, type SweepRecord, type Trial, axesOf } from '../src/run/sweep.js';
import { commandLine } from '../src/run/command-line.js';
import { overridesOf } from './space.js';

/** The trial that won, on valid. */
interface BestTrial {
  trial: number;
  set: Record<string, unknown>;
  /** Mean over the seeds, with its 95 % interval by Student's t; NaN ends with one seed. */
  value: number;
  low: number;
  high: number;
  /** Seeds. */
  n: number;
  /** Trains it again. */
  command: string;
}

/** Share of the differences between finished trials each setting explains alone, by functional ANOVA over a random forest. */
interface SettingImportance {
  settings: { key: string; share: number; deviation: number }[];
  /** Out of bag R² of the forest: at 0 or below the shares say nothing. */
  foretold: number;
  /** Trials. */
  n: number;
}

/** See the top of the file. */
export interface SweepResults {
  /** The figure that chose; undefined where no trial was evaluated. */
  metric: string | undefined;
  trials: (Trial & { folders: string[] })[];
  counts: { trials: number; begun: number; finished: number; stopped: number; failed: number };
  best?: BestTrial | undefined;
  /** Absent where too few trials finished, or all alike. */
  importance?: SettingImportance | undefined;
}

/** @param sweep its folder, record and lines */
export function sweepResults({
  folder,
  record,
  events,
}: Pick<SweepInfo, 'folder' | 'record' | 'events'>): SweepResults {
  const trials = trialsOf(record, events);
  const ranked = rankedTrials(trials, record.better);
  const [first] = ranked;
  const count = (state: Trial['state']) => trials.filter((trial) => trial.state === state).length;
  return {
    metric: record.metric ?? events.flatMap((event) => (event.kind === 'end' ? (event.metric ?? []) : []))[0],
    trials: trials.map((trial) => ({ ...trial, folders: trial.runs.map(({ name }) => join(folder, name)) })),
    counts: {
      trials: Math.max(record.trials, trials.length),
      begun: trials.length,
      finished: count('finished'),
      stopped: count('stopped'),
      failed: count('failed'),
    },
    best: first && bestOf(first, record),
    importance: importanceOf(record, ranked),
  };
}

function importanceOf(
  record: SweepRecord,
  trials: readonly (Trial & { value: number })[],
): SettingImportance | undefined {
  const axes = axesOf(record);
  const rows = trials.map(({ set }) => axes.map(({ key, placeOf }) => placeOf(set[key])));
  const found = functionalAnova(
    rows,
    trials.map(({ value }) => value),
  );
  if (!found) return undefined;
  const settings = axes.map(({ key }, d) => {
    const { value: share, deviation } = found.shares[d]!;
    return { key, share, deviation };
  });
  return { settings: settings.sort((a, b) => b.share - a.share), foretold: found.foretold, n: trials.length };
}

function bestOf(
  { trial, set, runs }: Trial,
  { preset, overrides, plugins = [], seeds, config }: SweepRecord,
): BestTrial {
  const values = runs.flatMap(({ end }) => end?.value ?? []);
  const { value, low, high, n } = studentInterval(values);
  const words = [...overrides, ...overridesOf(set)].flatMap((one) => ['--set', one]);
  const own =
    seeds.length > 1 ? ['--seeds', seeds.join()] : seeds[0] === config.seed ? [] : ['--seed', String(seeds[0])];
  const loaded = plugins.flatMap((file) => ['--plugin', file]);
  const command = commandLine('train', preset, ...loaded, ...words, ...own);
  return { trial, set, value, low, high, n, command };
}
