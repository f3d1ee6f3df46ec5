/** What a worker does: the jobs of a plan or of a queue, so many at once. */
import { temporaryFolder } from '../src/run/files.js';
import { rmSync } from 'node:fs';
import type { Shard } from '../src/run/shards.js';
import type { Job } from './job.js';
import type { WorkQueue } from './queue.js';
import { type JobEnd, runJob } from './run-job.js';
import type { Store } from './store.js';

/** How a worker works; nothing of it changes a result. */
export interface WorkOptions {
  store: Store;
  /** Jobs at once. */
  jobs: number;
  signal: AbortSignal;
  /** Told of each job that is over here. */
  onEnd: (job: Job, ended: JobEnd) => void;
  /** See `JobOptions`. */
  saveEvery?: number;
}

/** Jobs of a plan that no queue hands out. @param shard every `of`-th job, from the `part`-th on */
export async function workThrough(plan: readonly Job[], shard: Shard, options: WorkOptions): Promise<void> {
  const waiting = plan.filter((_, i) => i % shard.of === shard.part - 1).values();
  await inScratch(options, async (run) => {
    const over = new AbortController();
    const lane = async () => {
      for (const job of waiting) {
        if (options.signal.aborted || over.signal.aborted) return;
        await run(job);
      }
    };
    const lanes = Array.from({ length: options.jobs }, () =>
      lane().catch((error: unknown) => {
        over.abort();
        throw error;
      }),
    );
    for (const ended of await Promise.allSettled(lanes)) if (ended.status === 'rejected') throw ended.reason;
  });
}

/** Jobs that a queue hands out. @param wait for more, where there are none */
export async function workOn(queue: WorkQueue, wait: boolean, options: WorkOptions): Promise<void> {
  await inScratch(options, (run) => queue.work(run, { jobs: options.jobs, wait, signal: options.signal }));
}

async function inScratch(
  { store, signal, saveEvery, onEnd }: WorkOptions,
  work: (run: (job: Job) => Promise<JobEnd>) => Promise<void>,
): Promise<void> {
  const scratch = temporaryFolder('work');
  try {
    await work(async (job) => {
      const ended = await runJob(job, { store, scratch, signal, ...(saveEvery !== undefined && { saveEvery }) });
      onEnd(job, ended);
      return ended;
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
