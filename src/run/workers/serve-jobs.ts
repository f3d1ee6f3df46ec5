/** The worker's side of a pool: a module that calls `serveJobs` is what `startWorkers` starts. */
import { parentPort, workerData } from 'node:worker_threads';
import { WorkbenchError } from '../errors.js';
import type { ErrorCode } from '../errors.js';
import { collectProvenance, ProvenanceNotes } from '../provenance/notes.js';
import type { ProvenanceRecord } from '../provenance/record.js';

/** An error as it travels between threads. */
export interface SentError {
  name: string;
  message: string;
  stack: string | undefined;
  /** Of a WorkbenchError. */
  code?: ErrorCode;
  hint?: string | undefined;
  fatal?: boolean;
  resumable?: boolean;
}

/** What a thread was prepared from; goes before its first reply. */
export interface Prepared {
  madeFrom: ProvenanceRecord;
}

/** The answer to the job of this number. */
export type Reply<Result> = { id: number } & ({ result: Result } | { error: SentError });

/**
 * Answers jobs one after the other. Whatever `open` or a job throws fails that job and goes back to whoever asked.
 * @param open prepares the thread from what the pool was given; returns what answers a job
 */
export function serveJobs<Data, Job, Result>(
  open: (data: Data) => Promise<(job: Job) => Result | Promise<Result>>,
): void {
  const port = parentPort!;
  let last: Promise<unknown> = Promise.resolve();
  const notes = new ProvenanceNotes();
  const opened = collectProvenance(notes, () => open(workerData as Data)).then((answer) => {
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
