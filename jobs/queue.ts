/** Jobs that workers take from Redis or Valkey, by BullMQ: each is given to one worker at a time, and again where that one dies. */
import { env } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { Job as Queued } from 'bullmq';
import { kgwalkVersion } from '../src/run/environment.js';
import { WorkbenchError } from '../src/run/errors.js';
import { type Job, jobFrom, otherVersion } from './job.js';
import { withPackage } from './optional-package.js';
import type { JobEnd } from './run-job.js';

/** Milliseconds after which a worker that was not heard of is taken for dead. Its jobs are other processes, so it is always to be heard. */
const lockDuration = 15_000;
/** A job that fails on one machine may pass on another; each try waits twice as long, from so many milliseconds. */
const [attempts, backoff] = [3, 5000];

/** A queue that is open; close it after use. */
export interface WorkQueue {
  /** Puts jobs in it that are not there; those that failed are tried again. */
  submit(jobs: readonly Job[]): Promise<void>;
  /**
   * Works until the queue is empty, or for as long as nobody stops it.
   * @param options.wait goes on waiting for jobs where there are none
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
 * @param onAway told why the queue does not answer, once each time
 * @throws WorkbenchError `usage` for an address that is none and a queue of another version; `failure` where nobody answers
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
    // A queue that goes away is waited for, jobs under way go on meanwhile; one that is not there at first is told.
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
    // Of one that has ended a timer would be left.
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
            // The store is away, or holds another result: not the job's fault.
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
          // Workers may be killed however often.
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
        // Waits for the jobs of this worker, which the signal has asked to save and stop.
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
