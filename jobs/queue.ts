/** Job queue on Redis or Valkey by BullMQ: each job goes to one worker at a time, and again to another if that one dies. */
import { env } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { Job as Queued, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { kgwalkVersion } from '../src/run/environment.js';
import { WorkbenchError } from '../src/run/errors.js';
import { type Job, jobFrom, otherVersion } from './job.js';
import type { JobEnd } from './run-job.js';
import { withPackage } from './s3-store.js';

/** Milliseconds without heartbeat after which a worker counts as dead. Jobs run in other processes, so heartbeats never stall. */
const lockDuration = 15_000;
/** Base delay of retries in milliseconds, doubled each time: a job may fail on one machine and pass on another. */
const [attempts, backoff] = [3, 5000];

type Bull = typeof import('bullmq');

/**
 * Opens a queue.
 * @param address `redis://HOST:PORT/DB#NAME`; rediss:// for TLS. Name and password of a user: KGWALK_REDIS_USER, KGWALK_REDIS_PASSWORD
 * @param onAway called with the reason when the queue becomes unreachable
 * @throws WorkbenchError `usage` for an address that is none and a queue of another version; `failure` if no server answers
 */
export async function openQueue(address: string, onAway: (why: string) => void = () => {}): Promise<WorkQueue> {
  const url = urlOf(address);
  const name = decodeURIComponent(url.hash.slice(1)) || 'kgwalk';
  const [bull, ioredis] = await withPackage('a queue', ['bullmq', 'ioredis'], () =>
    Promise.all([import('bullmq'), import('ioredis')]),
  );
  let trouble: Error | undefined;
  let opened = false;
  const connection = new ioredis.Redis({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    db: Number(url.pathname.slice(1) || 0),
    tls: url.protocol === 'rediss:' ? {} : undefined,
    username: env.KGWALK_REDIS_USER || undefined,
    password: env.KGWALK_REDIS_PASSWORD || undefined,
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
    const got = (trouble ?? (error as Error)).message;
    throw new WorkbenchError('failure', `expected a queue that answers, got ${got}, at ${address}`, {
      hint: 'Is Redis or Valkey running there? For a password set KGWALK_REDIS_PASSWORD.',
      cause: error,
    });
  }
  return new WorkQueue(bull, connection, name, address);
}

function urlOf(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !['redis:', 'rediss:'].includes(url.protocol) || !/^(\/\d{0,4})?$/.test(url.pathname)) {
    throw new WorkbenchError(
      'usage',
      `expected redis://HOST:PORT or rediss://HOST:PORT, got ${url ? url.protocol + '//…' : address}, at --queue`,
    );
  }
  if (!url.username && !url.password) return url;
  throw new WorkbenchError('usage', `expected an address without a password, got one with it, at --queue`, {
    hint: 'Other users of the machine see what a command is called with: set KGWALK_REDIS_USER and KGWALK_REDIS_PASSWORD.',
  });
}

/** An open queue; close it after use. */
export class WorkQueue {
  readonly #bull: Bull;
  readonly #connection: Redis;
  readonly #queue: Queue;
  readonly #address: string;

  constructor(bull: Bull, connection: Redis, name: string, address: string) {
    this.#bull = bull;
    this.#connection = connection;
    this.#queue = new bull.Queue(name, { connection, prefix: 'kgwalk' });
    this.#queue.on('error', () => {});
    this.#address = address;
  }

  /** Adds missing jobs and retries failed ones. */
  async submit(jobs: readonly Job[]): Promise<void> {
    const options = { attempts, backoff: { type: 'exponential', delay: backoff }, removeOnComplete: true };
    await this.#queue.addBulk(
      jobs.map((job) => ({ name: job.command, data: job, opts: { ...options, jobId: job.key } })),
    );
    const ours = new Set(jobs.map(({ key }) => key));
    for (const failed of await this.#queue.getFailed()) if (ours.has(failed.id ?? '')) await failed.retry();
  }

  /**
   * Works until the queue is empty, or until stopped.
   * @param options.wait keeps waiting for jobs when there are none
   * @throws what `run` threw, once the other jobs of this worker are over
   */
  async work(
    run: (job: Job) => Promise<JobEnd>,
    { jobs, wait, signal }: { jobs: number; wait: boolean; signal: AbortSignal },
  ): Promise<void> {
    // The store is unreachable: not an error of the job.
    const broken = new AbortController();
    const process = async (queued: Queued, token: string | undefined) => {
      const job = this.#jobOf(queued);
      const ended: JobEnd = broken.signal.aborted
        ? { state: 'stopped' }
        : await run(job).catch((error: unknown) => {
            broken.abort(error);
            return { state: 'stopped' };
          });
      if (ended.state === 'failed') throw new Error(ended.reason);
      if (ended.state !== 'stopped') return ended.state;
      await queued.moveToWait(token);
      throw new this.#bull.WaitingError();
    };
    const worker = new this.#bull.Worker(this.#queue.name, process, {
      connection: this.#connection,
      prefix: 'kgwalk',
      concurrency: jobs,
      lockDuration,
      stalledInterval: lockDuration / 2,
      // Killed workers do not count as failed tries.
      maxStalledCount: 1_000_000,
    });
    worker.on('error', () => {});
    const stopped = AbortSignal.any([signal, broken.signal]);
    try {
      while (!stopped.aborted) {
        await setTimeout(500, undefined, { signal: stopped }).catch(() => {});
        if (!wait && !stopped.aborted && (await this.#isEmpty())) break;
      }
    } finally {
      // Waits for this worker's jobs, which save and stop by the signal.
      await worker.close();
    }
    broken.signal.throwIfAborted();
  }

  #jobOf(queued: Queued): Job {
    try {
      return jobFrom(queued.data, `job ${queued.id} of --queue ${this.#address}`);
    } catch (error) {
      throw new this.#bull.UnrecoverableError((error as Error).message);
    }
  }

  async #isEmpty(): Promise<boolean> {
    const left = await this.#queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized');
    return Object.values(left).every((count) => count === 0);
  }

  async close(): Promise<void> {
    await this.#queue.close();
    this.#connection.disconnect();
  }
}
