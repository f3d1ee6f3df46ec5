/** Stops long loops between two steps: on request, or when memory runs out; gives a clear error for failed allocations. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { type ErrorLike, WorkbenchError } from './errors.js';

/**
 * Share of the memory limit above which the next step may not fit. V8 collects garbage when half of the rest is used,
 * so it is reached only if 84 % cannot be freed.
 */
const nearlyAll = 0.92;
/** Bytes that V8 adds to `--max-old-space-size` for young objects: three semi-spaces of 16 MiB. */
const youngBytes = 48 * 2 ** 20;

/** Memory limit of the container in bytes; undefined outside of one. */
const constrained = process.constrainedMemory();
const containerLimit = constrained > 0 && constrained < Number.MAX_SAFE_INTEGER ? constrained : undefined;

const hint =
  'Lower clone.batchSize, ppo.samplesPerUpdate or ppo.minibatchSamples when training, evaluation.batchSize or the beam when ' +
  'evaluating; or allow more, such as by NODE_OPTIONS=--max-old-space-size=8192 (MiB), and resume.';

/**
 * Called by long loops between two steps, when their state is consistent.
 * @throws WorkbenchError `stopped` once the signal is aborted by the user or a time limit; `failure`, fatal and
 *   resumable, when nearly all memory of the process or its container is in use
 */
export function throwIfStopped(signal: AbortSignal | undefined): void {
  throwIfMemoryShort();
  if (!signal?.aborted) return;
  throw signal.reason instanceof WorkbenchError ? signal.reason : new WorkbenchError('stopped', 'stopped on request');
}

/**
 * Await it between the steps of a loop that is never idle: lets signals, time limits and progress through every 50 ms.
 * @param signal aborted: throws as `throwIfStopped`; for parts of a step that take seconds and may be lost
 */
export function eventLoopYielder(signal?: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (signal?.aborted) throwIfStopped(signal);
    if (performance.now() - since < longestHold) return;
    await setImmediate();
    since = performance.now();
  };
}

const longestHold = 50;

/** Takes some microseconds. */
function throwIfMemoryShort(): void {
  const limit = getHeapStatistics().heap_size_limit - youngBytes;
  const old = getHeapSpaceStatistics().filter(({ space_name }) => !space_name.startsWith('new_'));
  const used = old.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
  if (used > nearlyAll * limit) throw short('JavaScript memory', used, limit);
  if (containerLimit === undefined) return;
  const most = nearlyAll * containerLimit;
  if (process.memoryUsage.rss() <= most) return;
  const resident = process.memoryUsage.rss() - mappedBytes(readFileSync('/proc/self/status', 'utf8'));
  if (resident > most) throw short('memory of the container', resident, containerLimit);
}

/**
 * Resident pages of mapped files, in bytes: a model's pages count as used but are freed on demand.
 * @param status text of `/proc/self/status`; only Linux limits containers
 */
export const mappedBytes = (status: string): number => Number(/^RssFile:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;

/** Messages of failed allocations in V8, WebAssembly and native code. */
const refusals =
  /array buffer allocation failed|invalid (typed )?array length|invalid string length|maximum size exceeded|out of memory|\boom\b|webassembly\.memory|enlarge memory|cannot allocate memory|ENOMEM/i;

/** V8 reserves ten gigabytes of address space for a memory of WebAssembly. */
const moreAddresses = 'Raise the limit of address space, such as with `ulimit -v unlimited` in a new shell.';
const moreFiles = 'Raise the limit of open files, such as with `ulimit -n 4096` in a new shell.';

/** Converts a failed allocation, or a file too many, into WorkbenchError `failure`, fatal; returns other errors unchanged. */
export function limitErrorOf(error: unknown, work = 'a step', memoryHint = hint): unknown {
  const failure = (message: string, hint: string) =>
    new WorkbenchError('failure', message, { hint, cause: error, fatal: true });
  if (error instanceof WorkbenchError && error.hint === moreFiles) return error;
  for (let at = error as ErrorLike | null | undefined, depth = 0; at && depth < 6; at = at.cause, depth++) {
    if (!/\bE[MN]FILE\b/.test(at.message ?? '')) continue;
    return failure(`expected one more open file, got: ${at.message}`, moreFiles);
  }
  const { message } = (error ?? {}) as ErrorLike;
  if (error instanceof WorkbenchError || typeof message !== 'string' || !refusals.test(message)) return error;
  const isReserved = message.includes('WebAssembly.Memory()');
  return failure(`expected enough memory for ${work}, got: ${message}`, isReserved ? moreAddresses : memoryHint);
}

function short(what: string, used: number, limit: number): WorkbenchError {
  const [got, of] = [used, limit].map((bytes) => Math.round(bytes / 2 ** 20));
  const message = `expected some ${what} for the next step, got ${got} of ${of} MiB in use`;
  return new WorkbenchError('failure', message, { hint, fatal: true, resumable: true });
}
