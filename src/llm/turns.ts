/** Requests take turns: at most so many at once, first come, first served. */

/**
 * Wraps work so that at most `places` pieces of it run at once; the others wait in the order in which they came.
 * Work that fails frees its place like any other.
 */
export function takeTurns(places: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < places) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place passes on directly: whoever comes now must not overtake those who wait.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
