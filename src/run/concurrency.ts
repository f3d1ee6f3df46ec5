/** Limits of concurrency: a semaphore, and a loop over many concurrent questions. */
import { setImmediate } from 'node:timers/promises';
import { throwIfStopped } from './stop.js';

/** Runs at most `places` pieces of work at once; the others wait in order. */
export function semaphore(places: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < places) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The slot is handed over directly, so that a new call cannot overtake waiting ones.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

/**
 * Runs every task, `concurrency` at once, begun in the order given.
 * @param run catch errors here to count a failure instead of throwing it
 * @param options `onDone` is called as each ends
 * @returns results in the order of the tasks
 * @throws the first failure, once those under way have ended; WorkbenchError `stopped` when aborted, likewise
 */
export async function runInterleaved<Task, Result>(
  tasks: readonly Task[],
  concurrency: number,
  run: (task: Task, index: number) => Promise<Result>,
  options: { signal?: AbortSignal | undefined; onDone?: (result: Result, index: number) => void } = {},
): Promise<Result[]> {
  const { signal, onDone } = options;
  const results = new Array<Result>(tasks.length);
  let next = 0;
  let failure: { error: unknown } | undefined;

  const work = async () => {
    while (next < tasks.length && !failure) {
      throwIfStopped(signal);
      const index = next++;
      results[index] = await run(tasks[index]!, index);
      onDone?.(results[index], index);
      // A simulated model answers within one turn of the event loop: without a new one no signal would ever be seen.
      await setImmediate();
    }
  };
  const workers = Array.from({ length: Math.max(1, Math.min(concurrency, tasks.length)) }, () =>
    work().catch((error: unknown) => {
      failure ??= { error };
    }),
  );
  await Promise.all(workers);
  if (failure) throw failure.error;
  return results;
}
