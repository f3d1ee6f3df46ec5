/** Runs one job: in a separate folder and process, with its progress stored. */
import { rmSync, writeFileSync, closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { kgwalkHome, packageRoot } from '../src/run/locations.js';
import { WorkbenchError, exitCodes } from '../src/run/errors.js';
import { makeFolder } from '../src/run/files.js';
import { type Job, wordsOf } from './job.js';
import {
  hasResult,
  publish,
  type Published,
  removeFailure,
  removeProgress,
  saveFailure,
  saveProgress,
  takeFolder,
  takeProgress,
} from './results.js';
import type { Store } from './store.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { env, execPath } from 'node:process';

/** Milliseconds between two uploads of progress. */
const saveEvery = 60_000;

/** End of a job here; `known` if its result was already there, or came from another worker meanwhile. */
export type JobEnd = Published | { state: 'stopped' };

/**
 * Runs or resumes a job.
 * @param scratch private folder of this worker, with a folder for each running job
 * @param signal aborted: the job saves and stops
 * @throws WorkbenchError if the store fails
 */
export async function runJob(job: Job, store: Store, scratch: string, signal: AbortSignal): Promise<JobEnd> {
  if (await hasResult(store, job)) return { state: 'known' };
  const folder = join(scratch, job.key);
  const made = join(folder, 'out');
  try {
    rmSync(folder, { recursive: true, force: true });
    makeFolder(made);
    for (const [path, settings] of Object.entries(job.presets)) {
      writeFileSync(join(folder, path), JSON.stringify(settings, null, 1));
    }
    for (const [path, sha256] of Object.entries(job.folders)) await takeFolder(store, sha256, join(folder, path));
    try {
      await takeProgress(store, job, made);
    } catch (error) {
      if (!(error instanceof WorkbenchError) || error.code !== 'data') throw error;
      // Another worker, taken for dead, progressed meanwhile: start from its progress.
      rmSync(made, { recursive: true, force: true });
      makeFolder(made);
    }
    const kept = new Set<string>();
    let saving = Promise.resolve();
    const ticking = setInterval(() => {
      saving = saving
        .then(() => saveProgress(store, job, made, kept))
        // A failed upload only loses progress: an unreachable store fails at the end.
        .catch(() => {});
    }, saveEvery);
    const log = join(folder, 'log.txt');
    const place =
      job.command === 'train'
        ? ['--run-dir', join(made, job.part), '--resume', 'last']
        : ['--part', job.part, '--evaluations', made];
    const ended = await runProgram(wordsOf(job, '--inputs', JSON.stringify(job.inputs), ...place), {
      log,
      signal,
      cwd: folder,
      // Data and models are this machine's; runs, evaluations and settings are the job's.
      variables: {
        KGWALK_HOME: kgwalkHome(),
        KGWALK_RUNS: join(folder, 'runs'),
        KGWALK_JOB: folder,
        KGWALK_PROGRESS: 'off',
      },
    }).finally(() => clearInterval(ticking));
    await saving;
    if (ended.state === 'stopped') {
      await saveProgress(store, job, made, kept);
      return { state: 'stopped' };
    }
    const end = ended.state === 'failed' ? ended : await publish(store, job, made);
    if (ended.state === 'finished') await removeProgress(store, job);
    if (end.state === 'failed') await saveFailure(store, job, end.reason);
    else await removeFailure(store, job);
    return end;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** End of a process: `reason` if it failed. */
export type ProgramEnd = { state: 'finished' | 'stopped' } | { state: 'failed'; reason: string };

/**
 * Runs `kgwalk WORDS`.
 * @param process.log file for its output, appended
 * @param process.signal aborted: the child saves and stops
 */
export async function runProgram(
  words: readonly string[],
  process: { log: string; signal: AbortSignal; cwd?: string; variables?: NodeJS.ProcessEnv },
): Promise<ProgramEnd> {
  const { log, signal, cwd, variables } = process;
  makeFolder(dirname(log));
  const output = openSync(log, 'a');
  // A separate process group: Ctrl-C at the terminal reaches only the parent, which asks the child once. The IPC
  // channel shows the child that the parent is gone.
  const child = spawn(execPath, [join(packageRoot(), 'dist', 'cli', 'main.js'), ...words], {
    env: { ...env, ...variables },
    cwd,
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  });
  closeSync(output);
  const stop = () => void child.kill('SIGINT');
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  try {
    const [code, killedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (code === 0) return { state: 'finished' };
    if (signal.aborted) return { state: 'stopped' };
    return { state: 'failed', reason: reasonOf(log, code, killedBy) };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function reasonOf(log: string, code: number | null, killedBy: string | null): string {
  if (killedBy !== null) return `ended by ${killedBy}`;
  if (code === exitCodes.stopped) return 'stopped from outside';
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  return (
    lines.findLast((line) => line.startsWith('error: '))?.slice('error: '.length) ?? `exit status ${code}, see ${log}`
  );
}
