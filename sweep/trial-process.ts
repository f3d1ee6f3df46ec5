/** A run of a trial as a process of this program: `kgwalk train`, with a run folder like any other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { exitCodes, WorkbenchError } from '../src/run/errors.js';
import { followRecords } from '../src/run/follow-log.js';
import { packageRoot } from '../src/run/locations.js';
import { metricRecord, type MetricRecord } from '../src/run/records.js';
import { runFiles, runIn } from '../src/run/run-folder.js';
import { isLocked } from '../src/run/run-lock.js';
import { makeFolder } from '../src/run/files.js';

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

/** How a run ended. `stopped` on request, before its last update. */
export type TrialEnd = { state: 'finished' | 'stopped' } | { state: 'failed'; reason: string };

/** Runs a trial, or goes on with it. @param signal aborted: the run saves and stops */
export type RunTrial = (
  job: TrialJob,
  told: { onMetrics: (record: MetricRecord) => void; signal: AbortSignal },
) => Promise<TrialEnd>;

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
    makeFolder(dirname(log));
    const output = openSync(log, 'a');
    // A group of its own: Ctrl-C at the terminal reaches the sweep alone, which asks once. The channel tells it that the sweep is gone.
    const child = spawn(execPath, [join(packageRoot(), 'dist', 'cli', 'main.js'), ...words], {
      env,
      detached: true,
      stdio: ['ignore', output, output, 'ipc'],
    });
    closeSync(output);
    const stop = () => void child.kill('SIGINT');
    signal.addEventListener('abort', stop);
    let broken: { error: unknown } | undefined;
    const ticking = setInterval(() => {
      try {
        look();
      } catch (error) {
        clearInterval(ticking);
        broken = { error };
        stop();
      }
    }, lookEvery);
    try {
      const [code, killedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
      if (broken) throw broken.error;
      look();
      if (code === 0) return { state: 'finished' };
      if (signal.aborted) return { state: 'stopped' };
      return { state: 'failed', reason: reasonOf(folder, log, code, killedBy) };
    } finally {
      clearInterval(ticking);
      signal.removeEventListener('abort', stop);
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

function reasonOf(folder: string, log: string, code: number | null, killedBy: string | null): string {
  if (killedBy !== null) return `ended by ${killedBy}`;
  if (code === exitCodes.stopped) return 'stopped from outside';
  const state = runIn(folder)?.state;
  if (state?.status === 'failed' && state.reason !== undefined) return state.reason;
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  return (
    lines.findLast((line) => line.startsWith('error: '))?.slice('error: '.length) ?? `exit status ${code}, see ${log}`
  );
}
