/** Results of a sweep: its trials in order of their figure, the best one, and the command that trains it again. */
import { join } from 'node:path';
import { studentInterval } from '../src/metrics/intervals.js';
import { rankedTrials, trialsOf, type SweepInfo, type SweepRecord, type Trial } from '../src/run/sweep.js';
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

/** See the top of the file. */
export interface SweepResults {
  /** The figure that chose; undefined where no trial was evaluated. */
  metric: string | undefined;
  trials: (Trial & { folders: string[] })[];
  counts: { trials: number; begun: number; finished: number; stopped: number; failed: number };
  best?: BestTrial | undefined;
}

/** @param sweep its folder, record and lines */
export function sweepResults({
  folder,
  record,
  events,
}: Pick<SweepInfo, 'folder' | 'record' | 'events'>): SweepResults {
  const trials = trialsOf(record, events);
  const [first] = rankedTrials(trials, record.better);
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
  };
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
