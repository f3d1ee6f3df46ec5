/** A run of a trial as a process of this program: `kgwalk train`, with a run folder like any other. */
import { setTimeout } from 'node:timers/promises';
import { type ProgramEnd, runProgram } from '../jobs/program.js';
import { WorkbenchError } from '../src/run/errors.js';
import { followRecords } from '../src/run/follow-log.js';
import { metricRecord, type MetricRecord } from '../src/run/records.js';
import { runFiles, runIn } from '../src/run/run-folder.js';
import { isLocked } from '../src/run/run-lock.js';

/** Milliseconds between two looks at the metric log of a run. */
const lookEvery = 100;

/** What is run, and where. */
export interface TrialJob {
  folder: string;
  /** What the process prints goes there, behind what earlier ones did. */
  log: string;
  seed: number;
  /** Settings on top of the preset, as `--set` takes them. */
  overrides: readonly string[];
}

/** Runs a trial, or goes on with it. @param signal aborted: the run saves and stops */
export type RunTrial = (
  job: TrialJob,
  told: { onMetrics: (record: MetricRecord) => void; signal: AbortSignal },
) => Promise<ProgramEnd>;

/** What every trial has. */
interface TrialProcesses {
  preset: string;
  plugins: readonly string[];
  threads?: string | undefined;
}

/** Runs trials as processes. They end with this one, saved, however it ends. */
export function trialProcesses({ preset, plugins, threads }: TrialProcesses): RunTrial {
  return async ({ folder, log, seed, overrides }, { onMetrics, signal }) => {
    const look = followRecords(runFiles(folder).metrics, metricRecord, onMetrics);
    if (runIn(folder)?.state.status === 'finished') {
      look();
      return { state: 'finished' };
    }
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

/** Waits for the process of a sweep that was killed: it notices, and saves. @returns whether nobody writes the folder now */
async function isFree(folder: string, signal: AbortSignal): Promise<boolean> {
  const patience = 10 * 60_000;
  for (let waited = 0; isLocked(folder); waited += lookEvery) {
    if (signal.aborted) return false;
    if (waited > patience) {
      throw new WorkbenchError(
        'usage',
        `expected a run that nobody writes, got one that another process holds, at ${folder}`,
        {
          hint: 'It belongs to a sweep that was killed and should have ended with it: end it, and go on.',
        },
      );
    }
    await setTimeout(lookEvery);
  }
  return !signal.aborted;
}
