/**
 * Job queue on Redis or Valkey by BullMQ: each job goes to one worker at a time, and again to another if that one dies.
 */
import { env } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { Job as Queued } from 'bullmq';
import { kgwalkVersion } from '../src/run/environment.js';
import { WorkbenchError } from '../src/run/errors.js';
import { type Job, jobFrom, otherVersion } from './job.js';
import { withPackage } from './optional-package.js';
import type { JobEnd } from './run-job.js';

/**
 * Milliseconds without heartbeat after which a worker counts as dead. Jobs run in other processes, so heartbeats never
 * stall.
 */
const lockDuration = 15_000;
/** Base delay of retries in milliseconds, doubled each time: a job may fail on one machine and pass on another. */
const [attempts, backoff] = [3, 5000];

/** An open queue; close it after use. */
export interface WorkQueue {
  /** Adds missing jobs and retries failed ones. */
  submit(jobs: readonly Job[]): Promise<void>;
  /**
   * Works until the queue is empty, or until stopped.
   * @param options.wait keeps waiting for jobs when there are none
   * @throws what `run` threw, once the other jobs of this worker are over
   */
  work(
    run: (job: Job) => Promise<JobEnd>,
    options: { jobs: number; wait: boolean; signal: AbortSignal },
  ): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a queue.
 * @param address `redis://HOST:PORT/DB#NAME`; rediss:// for TLS. Name and password of a user: KGWALK_REDIS_USER, KGWALK_REDIS_PASSWORD
 * @param onAway called with the reason when the queue becomes unreachable
 * @throws WorkbenchError `usage` for an address that is none and a queue of another version; `failure` if no server answers
 */
export async function openQueue(address: string, onAway: (why: string) => void = () => {}): Promise<WorkQueue> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !['redis:', 'rediss:'].includes(url.protocol) || !/^(\/\d{0,4})?$/.test(url.pathname)) {
    throw new WorkbenchError(
      'usage',
      `expected redis://HOST:PORT or rediss://HOST:PORT, got ${url ? url.protocol + '//…' : address}, at --queue`,
    );
  }
  if (url.username || url.password) {
    throw new WorkbenchError('usage', `expected an address without a password, got one with it, at --queue`, {
      hint: 'Other users of the machine see what a command is called with: set KGWALK_REDIS_USER and KGWALK_REDIS_PASSWORD.',
    });
  }
  const name = decodeURIComponent(url.hash.slice(1)) || 'kgwalk';
  const [{ Queue, Worker: QueueWorker, WaitingError, UnrecoverableError }, { Redis }] = await withPackage(
    'a queue',
    ['bullmq', 'ioredis'],
    () => Promise.all([import('bullmq'), import('ioredis')]),
  );
  let trouble: Error | undefined;
  let opened = false;
  const connection = new Redis({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    db: Number(url.pathname.slice(1) || 0),
    ...(url.protocol === 'rediss:' && { tls: {} }),
    ...(env.KGWALK_REDIS_USER && { username: env.KGWALK_REDIS_USER }),
    ...(env.KGWALK_REDIS_PASSWORD && { password: env.KGWALK_REDIS_PASSWORD }),
    // An unreachable queue is waited for while running jobs continue; if it is unreachable at first, that is an error.
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (opened ? Math.min(times * 100, 2000) : null),
    lazyConnect: true,
  });
  let away = false;
  connection.on('error', (error: Error) => {
    trouble = error;
    if (opened && !away) onAway(error.message);
    away = true;
  });
  connection.on('ready', () => (away = false));
  try {
    await connection.connect();
    opened = true;
    const key = `kgwalk:${name}:version`;
    await connection.set(key, kgwalkVersion(), 'NX');
    const version = await connection.get(key);
    if (version !== kgwalkVersion()) throw otherVersion(version ?? 'nothing', `--queue ${address}`);
  } catch (error) {
    // Clears the timer of an ended job.
    if (connection.status !== 'end') connection.disconnect();
    if (error instanceof WorkbenchError) throw error;
    throw new WorkbenchError(
      'failure',
      `expected a queue that answers, got ${(trouble ?? (error as Error)).message}, at ${address}`,
      {
        hint: 'Is Redis or Valkey running there? For a password set KGWALK_REDIS_PASSWORD.',
        cause: error,
      },
    );
  }
  const queue = new Queue(name, { connection, prefix: 'kgwalk' });
  queue.on('error', () => {});

  return {
    async submit(jobs) {
      const options = { attempts, backoff: { type: 'exponential', delay: backoff }, removeOnComplete: true };
      await queue.addBulk(jobs.map((job) => ({ name: job.command, data: job, opts: { ...options, jobId: job.key } })));
      const ours = new Set(jobs.map(({ key }) => key));
      for (const failed of await queue.getFailed()) if (ours.has(failed.id ?? '')) await failed.retry();
    },

    async work(run, { jobs, wait, signal }) {
      let thrown: { error: unknown } | undefined;
      const over = new AbortController();
      const worker = new QueueWorker(
        name,
        async (queued: Queued, token) => {
          const giveBack = async () => {
            await queued.moveToWait(token);
            throw new WaitingError();
          };
          if (over.signal.aborted) return giveBack();
          let job: Job;
          try {
            job = jobFrom(queued.data, `job ${queued.id} of --queue ${address}`);
          } catch (error) {
            throw new UnrecoverableError((error as Error).message);
          }
          let ended: JobEnd;
          try {
            ended = await run(job);
          } catch (error) {
            // The store is unreachable, or holds another result: not an error of the job.
            thrown ??= { error };
            over.abort();
            return giveBack();
          }
          if (ended.state === 'stopped') return giveBack();
          if (ended.state === 'failed') throw new Error(ended.reason);
          return ended.state;
        },
        {
          ...{ connection, prefix: 'kgwalk', concurrency: jobs, lockDuration, stalledInterval: lockDuration / 2 },
          // Killed workers do not count as failed tries.
          maxStalledCount: 1_000_000,
        },
      );
      worker.on('error', () => {});
      const stopped = AbortSignal.any([signal, over.signal]);
      try {
        while (!stopped.aborted) {
          await setTimeout(500, undefined, { signal: stopped }).catch(() => {});
          if (wait || stopped.aborted) continue;
          const left = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized');
          if (Object.values(left).every((count) => count === 0)) break;
        }
      } finally {
        // Waits for this worker's jobs, which save and stop by the signal.
        await worker.close();
      }
      if (thrown) throw thrown.error;
    },

    async close() {
      await queue.close();
      connection.disconnect();
    },
  };
}
