/** Worker loop: runs the jobs of a plan or of a queue, so many at once. */
import { rmSync } from 'node:fs';
import { runInterleaved } from '../src/llm/concurrency.js';
import { temporaryFolder } from '../src/run/files.js';
import type { Shard } from '../src/run/shards.js';
import type { Job } from './job.js';
import type { WorkQueue } from './queue.js';
import { type JobEnd, runJob } from './run-job.js';
import type { Store } from './store.js';

/** Options of a worker; none changes a result. */
export interface WorkOptions {
  store: Store;
  /** Jobs at once. */
  jobs: number;
  signal: AbortSignal;
  /** Called after each job of this worker. */
  onEnd: (job: Job, ended: JobEnd) => void;
}

/** Jobs of a plan that no queue hands out. @param shard every `of`-th job, from the `part`-th on @throws WorkbenchError `stopped` once the signal is aborted */
export async function workThrough(plan: readonly Job[], shard: Shard, options: WorkOptions): Promise<void> {
  const ours = plan.filter((_, i) => i % shard.of === shard.part - 1);
  const { jobs, signal } = options;
  await inScratch(options, async (run) => void (await runInterleaved(ours, jobs, run, { signal })));
}

/** Jobs that a queue hands out. @param wait for more, where there are none */
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
      const ended = await runJob(job, { store, scratch, signal });
      onEnd(job, ended);
      return ended;
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
