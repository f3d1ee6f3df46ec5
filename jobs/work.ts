/** Worker loop: runs the jobs of a plan or of a queue, so many at once. */
import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { runInterleaved } from '../src/run/concurrency.js';
import { temporaryFolder } from '../src/run/files.js';
import type { Blocker } from '../src/run/run-lock.js';
import type { Job } from './job.js';
import type { WorkQueue } from './queue.js';
import { type JobEnd, runJob } from './run-job.js';
import type { Store } from './store.js';

/** Options of a worker; none changes a result. */
export interface WorkOptions {
  store: Store;
  jobs: number;
  signal: AbortSignal;
  /** Called after each job of this worker. */
  onEnd: (job: Job, ended: JobEnd) => void;
}

/**
 * Runs the jobs of a plan that no other worker of the store has done or is running.
 * @returns workers that hold the others
 * @throws WorkbenchError `stopped` once the signal is aborted
 */
export async function workThrough(plan: readonly Job[], options: WorkOptions): Promise<Blocker[]> {
  const { store, jobs, signal } = options;
  // Without claims, several workers begin in different places and seldom run the same job.
  const first = store.claim ? 0 : randomInt(plan.length);
  const held: Blocker[] = [];
  await inScratch(options, async (run) => {
    const claimed = async (job: Job) => {
      const release = store.claim?.(`locks/${job.key}`);
      if (typeof release === 'object') held.push(release);
      else await run(job).finally(release);
    };
    await runInterleaved([...plan.slice(first), ...plan.slice(0, first)], jobs, claimed, { signal });
  });
  return held;
}

/** Runs the jobs that a queue hands out. @param wait for more when it is empty */
export async function workOn(queue: WorkQueue, wait: boolean, options: WorkOptions): Promise<void> {
  await inScratch(options, (run) => queue.work(run, { jobs: options.jobs, wait, signal: options.signal }));
}

async function inScratch(
  { store, signal, onEnd }: WorkOptions,
  work: (run: (job: Job) => Promise<JobEnd>) => Promise<void>,
): Promise<void> {
  const scratch = temporaryFolder('work');
  try {
    await work(async (job) => {
      const ended = await runJob(job, store, scratch, signal);
      onEnd(job, ended);
      return ended;
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
