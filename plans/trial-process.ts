/** A run of a trial as a child process: `kgwalk train` with an ordinary run folder. */
import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type ProgramEnd, runProgram } from '../jobs/program.js';
import { WorkbenchError } from '../src/run/errors.js';
import { followRecords } from '../src/run/follow-log.js';
import { metricRecord, type MetricRecord } from '../src/run/records.js';
import { runFiles } from '../src/run/run-files.js';
import { runIn } from '../src/run/run-folder.js';
import { isLocked } from '../src/run/run-lock.js';

/** Polling interval of a run's metric log, in milliseconds. */
const lookEvery = 100;

/** Run and folder of a trial. */
interface TrialJob {
  folder: string;
  /** File for the process's output, appended. */
  log: string;
  seed: number;
  /** Overrides of the preset, as `--set` takes them. */
  overrides: readonly string[];
}

/** Runs or resumes a trial. @param signal aborted: the run saves and stops */
export type RunTrial = (
  job: TrialJob,
  listeners: { onMetrics: (record: MetricRecord) => void; signal: AbortSignal },
) => Promise<ProgramEnd>;

/** Reads a run that has finished, perhaps elsewhere. @returns false for any other */
function wasFinished(folder: string, onMetrics: (record: MetricRecord) => void): boolean {
  if (runIn(folder)?.state.status !== 'finished') return false;
  followRecords(runFiles(folder).metrics, metricRecord, onMetrics)();
  return true;
}

/** Takes runs that jobs have made. @param failures reasons of those that failed, by name */
export function collectedTrials(failures: ReadonlyMap<string, string | undefined>): RunTrial {
  return async ({ folder }, { onMetrics }) => {
    if (wasFinished(folder, onMetrics)) return { state: 'finished' };
    const reason = failures.get(basename(folder));
    return reason === undefined ? { state: 'stopped' } : { state: 'failed', reason };
  };
}

/** Runs trials as child processes, which save and end with this one. @param options shared by all trials */
export function trialProcesses(options: {
  preset: string;
  plugins: readonly string[];
  threads?: string | undefined;
}): RunTrial {
  const { preset, plugins, threads } = options;
  return async ({ folder, log, seed, overrides }, { onMetrics, signal }) => {
    if (wasFinished(folder, onMetrics)) return { state: 'finished' };
    const look = followRecords(runFiles(folder).metrics, metricRecord, onMetrics);
    if (!(await isFree(folder, signal))) return { state: 'stopped' };
    const words = [
      ...plugins.flatMap((file) => ['--plugin', file]),
      ...['train', preset, ...overrides.flatMap((one) => ['--set', one])],
      ...['--seed', String(seed), '--run-dir', folder, '--resume', 'last'],
      ...(threads === undefined ? [] : ['--threads', threads]),
    ];
    const broken = new AbortController();
    const ticking = setInterval(() => {
      try {
        look();
      } catch (error) {
        clearInterval(ticking);
        broken.abort(error);
      }
    }, lookEvery);
    try {
      const ended = await runProgram(words, { log, signal: AbortSignal.any([signal, broken.signal]) });
      if (broken.signal.aborted) throw broken.signal.reason;
      look();
      const state = ended.state === 'failed' ? runIn(folder)?.state : undefined;
      return state?.status === 'failed' && state.reason !== undefined
        ? { state: 'failed', reason: state.reason }
        : ended;
    } finally {
      clearInterval(ticking);
    }
  };
}

/** Waits for a trial process whose sweep was killed: it notices, and saves. @returns true if the folder is free now */
async function isFree(folder: string, signal: AbortSignal): Promise<boolean> {
  const patience = 10 * 60_000;
  for (let waited = 0; isLocked(folder); waited += lookEvery) {
    if (signal.aborted) return false;
    if (waited > patience) {
      throw new WorkbenchError(
        'usage',
        `expected a run without another writer, got one that another process holds, at ${folder}`,
        {
          hint: 'It belongs to a sweep that was killed and should have ended with it: end it, and resume.',
        },
      );
    }
    await setTimeout(lookEvery);
  }
  return !signal.aborted;
}
