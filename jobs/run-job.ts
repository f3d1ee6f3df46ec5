/** Runs one job: in a separate folder and process, with its progress stored. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kgwalkHome } from '../src/run/locations.js';
import { WorkbenchError } from '../src/run/errors.js';
import { makeFolder } from '../src/run/files.js';
import { type Job, wordsOf } from './job.js';
import { runProgram } from './program.js';
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
