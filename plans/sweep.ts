/** Definition of a sweep, from options to trials and jobs, all checked before anything starts; and the folder in which it is done. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { carriedPreset, type Job, jobOf } from '../jobs/job.js';
import { loadPreset } from '../presets/index.js';
import { canonicalJson, configDifferences, configHash, refuseDifferences } from '../src/run/config-values.js';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import { openJsonLines } from '../src/run/json-lines.js';
import { confined, runsFolder } from '../src/run/locations.js';
import { lockFile } from '../src/run/run-lock.js';
import { sweepFiles, sweepIn, type SweepRecord, type TrialEvent, trialName } from '../src/run/sweep.js';
import { taskOfSettings } from '../tasks/index.js';
import { wholeNumber } from '../tasks/flags.js';
import { checkTrainSettings } from '../trainers/check-settings.js';
import { plainSettings } from '../trainers/run-settings.js';
import { inputsOf, openedTraining, overridesByFlags } from './runs.js';
import { parseSpace, trialCount, trialSettings, checkSpace, dimensionText, overridesOf } from './space.js';

/** Options of a sweep. */
export type SweepPlan = Omit<SweepRecord, 'schemaVersion' | 'config' | 'trials'> & {
  trials?: number | undefined;
};

/** The options of `kgwalk sweep`. */
export interface SweepFlags {
  grid: string[];
  sample: string[];
  trials?: string;
  seeds: string;
  jobs: string;
  seed: string;
  halving?: string;
  eta?: string;
  metric?: string;
  minimize?: boolean;
  set: string[];
  model?: string;
  backend?: string;
  name?: string;
  runDir?: string;
  resume?: boolean;
  retryFailed?: boolean;
  write?: string;
  maxMinutes?: number;
  threads?: string;
  json?: boolean;
}

/**
 * The sweep that options ask for.
 * @throws WorkbenchError `usage` for options that contradict each other, `config` for settings that the preset does not take
 */
export function sweepOf(preset: string, flags: SweepFlags, plugins: readonly string[]): SweepPlan {
  const overrides = overridesByFlags(flags);
  const { seed } = loadPreset(preset, overrides);
  return {
    preset,
    overrides,
    dimensions: parseSpace(flags.grid, flags.sample),
    seeds: seedsOf(flags.seeds, seed),
    seed: wholeNumber(flags.seed, '--seed', 0),
    plugins: plugins.length > 0 ? [...plugins] : undefined,
    trials: wholeNumber(flags.trials, '--trials', 1),
    metric: flags.metric === undefined ? undefined : metricOf(flags.metric),
    better: flags.minimize || flags.metric?.endsWith('loss') ? ('low' as const) : ('high' as const),
    halving: halvingOf(flags),
  };
}

function halvingOf({ halving, eta }: SweepFlags): SweepRecord['halving'] {
  if (halving !== undefined) {
    return { first: wholeNumber(halving, '--halving', 1), eta: wholeNumber(eta, '--eta', 2) ?? 3 };
  }
  if (eta === undefined) return undefined;
  throw new WorkbenchError('usage', 'expected --halving with --eta, got none', {
    hint: 'Such as --halving 10 --eta 3.',
  });
}

function metricOf(name: string): string {
  if (name.startsWith('eval/')) return name;
  throw new WorkbenchError(
    'usage',
    `expected a figure of valid under eval/, got ${JSON.stringify(name)}, at --metric`,
    { hint: 'A run logs them in its metrics.jsonl; test never chooses.' },
  );
}

function seedsOf(text: string, first: number): number[] {
  if (!text.includes(',')) return Array.from({ length: wholeNumber(text, '--seeds', 1) }, (_, i) => first + i);
  const list = text.split(',').map((one) => wholeNumber(one, '--seeds', 0));
  if (new Set(list).size === list.length) return list;
  throw new WorkbenchError('usage', `expected different seeds, got ${text}, at --seeds`);
}

/**
 * The record of a sweep that may be run.
 * @throws WorkbenchError `usage` for a preset that is not there or a wrong number of trials; `config` for a key or a value that the
 *   schema does not take, alone or with the others of a trial
 */
export async function plannedSweep(plan: SweepPlan): Promise<SweepRecord> {
  const { preset, overrides, dimensions } = plan;
  const settings = loadPreset(preset, overrides);
  checkSpace(dimensions, preset, overrides);
  const trials = trialCount(plan, plan.trials);
  const record: SweepRecord = { ...plan, schemaVersion: 1, config: plainSettings(settings), trials };
  for (let trial = 1; trial <= trials; trial++) await checkTrial(record, trialSettings(record, trial), trial);
  return record;
}

/** @throws WorkbenchError `config` for settings that the schema or the task does not take together */
async function checkTrial(
  { preset, overrides }: Pick<SweepRecord, 'preset' | 'overrides'>,
  set: Readonly<Record<string, unknown>>,
  trial: number,
): Promise<void> {
  try {
    const settings = loadPreset(preset, [...overrides, ...overridesOf(set)]);
    const { learning } = await taskOfSettings(settings);
    checkTrainSettings(learning, settings, false);
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw error;
    const { hint, message } = error;
    throw new WorkbenchError('config', `trial ${trial} (${overridesOf(set).join(' ')}): ${message}`, { hint });
  }
}

/**
 * Reads the data of the first trial, as its run will: what is missing would fail every run alike.
 * @throws WorkbenchError `data` for data that is not there or does not fit
 */
export async function checkData(record: SweepRecord): Promise<void> {
  await openedTraining(loadPreset(record.preset, trialOverrides(record, trialSettings(record, 1))));
}

/** Overrides of the preset in a trial. */
export const trialOverrides = (
  { overrides }: Pick<SweepRecord, 'overrides'>,
  set: Readonly<Record<string, unknown>>,
) => [...overrides, ...overridesOf(set)];

/** Settings that change neither data nor encoder. */
const ofTraining = /^(ppo|clone|fit|transe)\./;

/** The runs of a sweep as jobs. @throws as `checkData` */
export async function jobsOf(record: SweepRecord): Promise<Job[]> {
  const { name, presets } = carriedPreset(record.preset);
  const jobs: Job[] = [];
  const inputs = new Map<string, Record<string, string>>();
  for (let trial = 1; trial <= record.trials; trial++) {
    const set = trialSettings(record, trial);
    const overrides = trialOverrides(record, set);
    const data = canonicalJson(Object.fromEntries(Object.entries(set).filter(([key]) => !ofTraining.test(key))));
    const found = inputs.get(data) ?? (await inputsOf(loadPreset(record.preset, overrides)));
    inputs.set(data, found);
    for (const seed of record.seeds) {
      jobs.push(
        jobOf({
          command: 'train',
          args: [name],
          options: { set: overrides, seed: [String(seed)] },
          part: trialName(trial, seed),
          presets,
          folders: {},
          inputs: found,
        }),
      );
    }
  }
  return jobs;
}

/** A name that follows from what is swept, and not from how many trials: more of them continue in the same folder. */
export function sweepName({ trials: _more, ...record }: SweepRecord): string {
  return `sweep-${String(record.config.name)}-${configHash(record).slice(0, 8)}`;
}

/** The folder of a sweep, made or not. @throws WorkbenchError `usage` for a name that cannot be one */
export function folderOf({ name, runDir }: SweepFlags, record: SweepRecord): string {
  if (name !== undefined && runDir !== undefined) {
    throw new WorkbenchError('usage', 'expected --name or --run-dir, got both');
  }
  if (runDir !== undefined) return resolve(runDir);
  if (name !== undefined && !/^\w[\w.-]*$/.test(name)) {
    throw new WorkbenchError(
      'usage',
      `expected letters, digits, dots and dashes, got ${JSON.stringify(name)}, at --name`,
    );
  }
  return name === undefined ? join(runsFolder(), sweepName(record)) : confined(runsFolder(), `sweep-${name}`);
}

/** A sweep that this process runs. */
export type OpenSweep = ReturnType<typeof openSweep>;

/**
 * Starts or resumes a sweep in a folder, and locks it; close it after use.
 * @param resume resume; start if there is none
 * @throws WorkbenchError `usage` where the folder holds a sweep and `resume` is false, or another process works on it;
 *   `config` that names what differs from the sweep there
 */
export function openSweep(folder: string, record: SweepRecord, resume: boolean) {
  const files = sweepFiles(folder);
  if (existsSync(files.sweep) && !resume) {
    throw new WorkbenchError('usage', `expected a folder without a sweep, got one that holds a sweep, at ${folder}`, {
      hint: 'Resume it by --resume, or choose another --name.',
    });
  }
  const release = lockFile(files.lock, 'a sweep');
  try {
    const before = sweepIn(folder);
    if (before) refuseOtherSweep(folder, before.record, record);
    if (!before || before.record.trials < record.trials) {
      writeFileAtomic(files.sweep, `${JSON.stringify(record, null, 2)}\n`);
    }
    const log = openJsonLines(files.trials);
    const events = [...sweepIn(folder)!.events];
    return {
      folder,
      files,
      record,
      events: events as readonly TrialEvent[],
      /** Keeps a line, on disk at once. */
      append(event: TrialEvent): void {
        log.append(event);
        log.flush();
        events.push(event);
      },
      close(): void {
        try {
          log.close();
        } finally {
          release();
        }
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** More trials of the same sweep are no other sweep. */
function refuseOtherSweep(folder: string, before: SweepRecord, asked: SweepRecord): void {
  const [known, wanted] = [optionsOf(before), optionsOf(asked)];
  const show = (value: unknown) => (value === undefined ? 'nothing' : String(value));
  const differences = [...new Set([...Object.keys(known), ...Object.keys(wanted)])]
    .filter((key) => show(known[key]) !== show(wanted[key]))
    .map((key) => `${key}: ${show(known[key])} in the sweep, ${show(wanted[key])} asked for`);
  if (asked.trials < before.trials) {
    differences.push(`--trials: ${before.trials} in the sweep, ${asked.trials} asked for`);
  }
  // The same words may mean other settings once the preset's file was edited.
  const settings = differences.length > 0 ? [] : configDifferences(before.config, asked.config, 'the sweep');
  refuseDifferences(
    [...differences, ...settings],
    'the sweep that was begun',
    folder,
    'Resume with the arguments of the sweep, or begin another by --name.',
  );
}

function optionsOf({ preset, overrides, plugins, dimensions, seeds, seed, metric, better, halving }: SweepRecord) {
  const options: Record<string, string | number | undefined> = {
    preset,
    '--set, --model and --backend': overrides.join(' ') || undefined,
    '--plugin': plugins?.join(' '),
    ...Object.fromEntries(
      dimensions.map((one) => [`--${one.kind === 'grid' ? 'grid' : 'sample'} ${one.key}`, dimensionText(one)]),
    ),
    'order of keys': dimensions.map(({ key }) => key).join(', '),
    '--seeds': seeds.join(', '),
    '--seed': seed,
    '--metric': metric,
    'what is better': better,
    '--halving': halving && `${halving.first}, --eta ${halving.eta}`,
  };
  return options;
}
