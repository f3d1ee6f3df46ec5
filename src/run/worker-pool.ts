/** Threads that do jobs for this one. Results do not depend on who did them; a thread that dies fails the whole work. */
import { AsyncResource } from 'node:async_hooks';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { WorkbenchError } from './errors.js';
import { collectProvenance, keepNotes, ProvenanceNotes, type ProvenanceRecord } from './provenance.js';
import { limitErrorOf, throwIfStopped } from './stop.js';

interface WorkerPoolOptions {
  work: string;
  /** The compiled module that calls `serveJobs`: that of the work itself. Sources under test have no such module. */
  module: URL;
  threads: number;
  /** Given to each thread before its first job; arrays in shared memory stay shared. */
  data: unknown;
  memoryHint: string;
  /** Mebibytes of JavaScript objects a thread may hold; default node's own limit. */
  memoryMb?: number;
  /** Aborted: all jobs fail with its reason and the threads end. */
  signal?: AbortSignal | undefined;
}

interface Waiting<Job, Result> {
  id: number;
  job: Job;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Starts threads that wait for jobs; `close` must be called, else the process does not end. */
export function startWorkers<Job, Result>(options: WorkerPoolOptions) {
  const { module, threads, data, memoryMb, signal } = options;
  const queue: Waiting<Job, Result>[] = [];
  const running = new Map<Worker, Waiting<Job, Result> | undefined>();
  const keep = AsyncResource.bind(keepNotes);
  let jobs = 0;
  let ended: unknown;
  let closing: Promise<unknown> | undefined;

  function end(error: unknown): void {
    if (ended !== undefined) return;
    ended = error;
    for (const waiting of [...running.values(), ...queue.splice(0)]) waiting?.reject(error);
    signal?.removeEventListener('abort', stop);
    closing = Promise.all([...running.keys()].map((worker) => worker.terminate()));
  }

  function stop(): void {
    try {
      throwIfStopped(signal);
    } catch (error) {
      end(error);
    }
  }

  function next(worker: Worker): void {
    const waiting = queue.shift();
    running.set(worker, waiting);
    if (waiting) worker.postMessage({ id: waiting.id, job: waiting.job });
  }

  for (let i = 0; i < threads; i++) {
    const worker = new Worker(module, {
      workerData: { module: module.href, data },
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    running.set(worker, undefined);
    worker.on('message', (reply: Prepared | Reply<Result>) => {
      if ('madeFrom' in reply) return keep(reply.madeFrom);
      const waiting = running.get(worker);
      if (waiting?.id !== reply.id) return;
      if ('result' in reply) waiting.resolve(reply.result);
      else waiting.reject(revived(reply.error, options));
      next(worker);
    });
    worker.on('messageerror', (error) => end(lost(options, error.message)));
    worker.on('error', (error) => end(lost(options, error)));
    worker.on('exit', (code) => end(lost(options, `it ended by itself with status ${code}`)));
  }
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();

  return {
    /**
     * Has a job done by the next free thread.
     * @throws errors of the job; a fatal `failure` once any thread has died; `stopped` once the signal is aborted
     */
    run(job: Job): Promise<Result> {
      const promise = new Promise<Result>((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        queue.push({ id: ++jobs, job, resolve, reject });
        for (const [worker, waiting] of running) if (waiting === undefined && queue.length > 0) next(worker);
      });
      // The caller may still send jobs when the work fails.
      promise.catch(() => {});
      return promise;
    },
    /** Ends the threads at once. Jobs that were not done fail. */
    async close(): Promise<void> {
      end(new WorkbenchError('stopped', `${options.work} was ended before it was done`));
      await closing;
    },
  };
}

function lost({ work, memoryHint }: WorkerPoolOptions, cause: unknown): unknown {
  const limited = limitErrorOf(cause, work, memoryHint);
  if (limited !== cause) return limited;
  const reason = cause instanceof Error ? cause.message.split('\n')[0]! : String(cause);
  const hint = 'Run it again, with --threads 1 if that happens again.';
  const message = `expected ${work} to continue, got a thread that died: ${reason}`;
  return new WorkbenchError('failure', message, { hint, fatal: true, cause });
}

/** The error as it was thrown in the thread; a failed allocation with the hint of the work. */
function revived({ name, message, stack, code, ...details }: SentError, options: WorkerPoolOptions): unknown {
  if (code !== undefined) {
    const { hint, fatal = false, resumable = false } = details;
    return new WorkbenchError(code, message, { fatal, resumable, hint });
  }
  return limitErrorOf(Object.assign(new Error(message), { name, stack }), options.work, options.memoryHint);
}

/** Provenance of a thread's preparation; sent before its first reply. */
type Prepared = { madeFrom: ProvenanceRecord };
type Reply<Result> = { id: number } & ({ result: Result } | { error: SentError });

/** An error as it travels between threads: of a WorkbenchError all that it carries. */
type SentError = Pick<Error, 'name' | 'message' | 'stack'> &
  Partial<Pick<WorkbenchError, 'code' | 'hint' | 'fatal' | 'resumable'>>;

/**
 * In a thread that a pool started with this module, answers jobs one after the other; elsewhere does nothing. Errors of `open` or a
 * job fail that job and are returned to the caller.
 * @param module `import.meta.url`
 * @param open prepares the thread from what the pool was given; returns what answers a job
 */
export function serveJobs<Data, Job, Result>(
  module: string,
  open: (data: Data) => Promise<(job: Job) => Result | Promise<Result>>,
): void {
  const given = workerData as { module: string; data: Data } | null;
  if (!parentPort || given?.module !== module) return;
  const port = parentPort;
  let last: Promise<unknown> = Promise.resolve();
  const notes = new ProvenanceNotes();
  const opened = collectProvenance(notes, () => open(given.data)).then((answer) => {
    port.postMessage({ madeFrom: notes.record() } satisfies Prepared);
    return answer;
  });
  opened.catch(() => {});
  port.on('message', ({ id, job }: { id: number; job: Job }) => {
    last = last.then(async () => {
      let reply: Reply<Result>;
      try {
        reply = { id, result: await (await opened)(job) };
      } catch (error) {
        reply = { id, error: sentError(error) };
      }
      port.postMessage(reply);
    });
  });
}

function sentError(error: unknown): SentError {
  if (error instanceof WorkbenchError) {
    const { name, message, stack, code, hint, fatal, resumable } = error;
    return { name, message, stack, code, hint, fatal, resumable };
  }
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  return { name, message, stack };
}

/** A typed array of numbers, as work for several threads holds them. */
export type Numbers = Int8Array | Uint8Array | Int16Array | Int32Array | Uint32Array | Float32Array | Float64Array;

/**
 * A copy of plain data (objects, arrays, numbers, texts) in which every typed array lies in shared memory: sent to a
 * worker, those arrays stay the same memory, and everything else is copied. Views of one buffer become separate buffers.
 */
export function inSharedMemory<T>(value: T): T {
  return withArrays(value, (numbers) => {
    const type = numbers.constructor as new (buffer: SharedArrayBuffer) => Numbers;
    return new type(new SharedArrayBuffer(numbers.byteLength));
  });
}

/**
 * A copy of plain data in which every typed array is a copy in an array that `allocate` makes; an array that stands in
 * several places stays one.
 * @param allocate returns an array of the same type and length as its argument
 */
export function withArrays<T>(value: T, allocate: (numbers: Numbers) => Numbers): T {
  const copies = new Map<Numbers, Numbers>();
  const copyOf = (part: unknown): unknown => {
    if (ArrayBuffer.isView(part)) {
      const numbers = part as Numbers;
      const known = copies.get(numbers);
      if (known) return known;
      const copy = allocate(numbers);
      copy.set(numbers);
      copies.set(numbers, copy);
      return copy;
    }
    if (Array.isArray(part)) return part.map(copyOf);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, copyOf(inner)]));
  };
  return copyOf(value) as T;
}

/** Looks before a thread goes to sleep: the others are seldom far behind, and waking costs more than looking. */
const looks = 2000;

/** Memory of a barrier, to be shared: how many have arrived, and how often all have. */
export const createBarrierMemory = (): Int32Array => new Int32Array(2);

/**
 * Returns once each of `threads` threads has called its own; earlier writes are then seen by all. A thread that dies
 * leaves the others waiting: their parent has to end them.
 */
export function createBarrier(memory: Int32Array, threads: number): () => void {
  if (threads === 1) return () => {};
  return () => {
    const round = Atomics.load(memory, 1);
    if (Atomics.add(memory, 0, 1) === threads - 1) {
      Atomics.store(memory, 0, 0);
      Atomics.add(memory, 1, 1);
      Atomics.notify(memory, 1);
      return;
    }
    for (let look = 0; look < looks; look++) if (Atomics.load(memory, 1) !== round) return;
    while (Atomics.load(memory, 1) === round) Atomics.wait(memory, 1, round);
  };
}
