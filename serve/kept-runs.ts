/** Runs that stay loaded between requests, which are answered one after the other. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { runFiles } from '../src/run/run-files.js';
import { readPlacedRun, stampOfRun, type World } from './runs.js';

/** Maximum bytes of a request. */
export const longestRequest = 64 * 1024;

/** Maximum requests in the queue. */
export const mostWaiting = 32;

/** Error when the queue is full. */
export class Busy extends WorkbenchError {}

/** Which weights a request is for. */
export const whichRun = {
  run: z.string(),
  /** `best`, `last`, `clone`, a name or a step. */
  checkpoint: z
    .string()
    .regex(/^[\w-]{1,60}$/, 'expected best, last, clone, a name or a step')
    .default('best'),
};

/** Loaded runs at most; the least recently used is closed first. */
const keptLoaded = 2;

/**
 * Opens runs by their keys. Close it after use.
 * @param path of the requests, for errors
 * @param stampOf changes when a run is opened again. Default: with its files and checkpoints
 */
export function keptRuns<Opened extends { close(): void | Promise<void> }>(
  world: World,
  path: string,
  open: (folder: string, checkpoint: string) => Promise<Opened>,
  stampOf: (folder: string) => string = stampOfWeights,
) {
  const loaded = new Map<string, Opened>();
  // One request at a time: each run is loaded once, and networks are not shared by two requests.
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    waiting++;
    void last.then(() => waiting--);
    return turn;
  };

  const opened = async (key: string, checkpoint: string): Promise<Opened> => {
    const place = world.place(key, 'run');
    const name = `${place.folder}@${checkpoint} ${stampOf(place.folder)}`;
    const found = loaded.get(name) ?? (await open(readPlacedRun(place).folder, checkpoint));
    loaded.delete(name);
    loaded.set(name, found);
    for (const [old, one] of loaded) {
      if (loaded.size <= keptLoaded) break;
      loaded.delete(old);
      await one.close();
    }
    return found;
  };

  return {
    /** @throws Busy for more than can wait */
    use<T>({ run, checkpoint }: { run: string; checkpoint: string }, work: (opened: Opened) => Promise<T>): Promise<T> {
      if (waiting >= mostWaiting) {
        throw new Busy('usage', `expected at most ${mostWaiting} questions at once, got more, at ${path}`, {
          hint: 'They are answered one after the other: ask again when one is.',
        });
      }
      return inTurn(async () => work(await opened(run, checkpoint)));
    },
    close: () =>
      inTurn(async () => {
        for (const one of loaded.values()) await one.close();
        loaded.clear();
      }),
  };
}

/** Changes when a run trains on: then it is read again and its checkpoint reloaded. */
function stampOfWeights(folder: string): string {
  const index = statSync(join(runFiles(folder).checkpoints, 'index.json'), { throwIfNoEntry: false });
  return `${stampOfRun(folder)} ${index ? `${index.mtimeMs} ${index.size}` : '-'}`;
}
