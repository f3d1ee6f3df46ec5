import { expect, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { silentProgress, type ProgressReporter } from '../../src/run/progress.js';
import { type BackgroundOptions, encodeInBackground } from '../../trainers/background-encoding.js';

/** Encoding that the test ends. */
function encoding() {
  const calls: BackgroundOptions[] = [];
  let resolve!: (vectors: string) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<string>((done, failed) => ([resolve, reject] = [done, failed]));
  const encode = (options: BackgroundOptions) => {
    calls.push(options);
    options.signal.addEventListener('abort', () => reject(options.signal.reason));
    return promise;
  };
  return { calls, encode, resolve, reject };
}

const quiet = { progress: silentProgress };

test('it takes the cores that are left, then all, and is done once', async () => {
  const { calls, encode, resolve } = encoding();
  const running = encodeInBackground(quiet, 2, encode, 4);
  expect(calls).toHaveLength(1);
  expect(calls[0]!.lanes!()).toBe(2);
  const joined = running.join();
  expect(calls[0]!.lanes!()).toBe(Infinity);
  resolve('vectors');
  expect([await joined, await running.join()]).toEqual(['vectors', 'vectors']);
  expect(calls).toHaveLength(1);
});

test('next to work of this thread all lanes may, as they wait for it', () => {
  const { calls, encode } = encoding();
  encodeInBackground(quiet, 1, encode, 2);
  expect(calls[0]!.lanes!()).toBe(Infinity);
});

test('without a core to spare it waits until it is asked for', async () => {
  const { calls, encode, resolve } = encoding();
  const running = encodeInBackground(quiet, 2, encode, 2);
  await setImmediate();
  expect(calls).toHaveLength(0);
  resolve('vectors');
  expect(await running.join()).toBe('vectors');
  const never = encodeInBackground(quiet, 2, encode, 2);
  await never.stop();
  expect(calls).toHaveLength(1);
});

test('a failure rejects join(), and a stop from either side ends it', async () => {
  const failing = encoding();
  const running = encodeInBackground(quiet, 1, failing.encode, 2);
  failing.reject(new Error('no such model'));
  await setImmediate();
  await expect(running.join()).rejects.toThrow('no such model');

  const own = encoding();
  const left = encodeInBackground(quiet, 1, own.encode, 2);
  await left.stop();
  expect(own.calls[0]!.signal.aborted).toBe(true);

  const outer = new AbortController();
  const run = encoding();
  encodeInBackground({ ...quiet, signal: outer.signal }, 1, run.encode, 2);
  expect(run.calls[0]!.signal.aborted).toBe(false);
  outer.abort();
  expect(run.calls[0]!.signal.aborted).toBe(true);
});

test('its lines of progress come when the other’s are over, the finished ones first', () => {
  const shown: string[] = [];
  const progress: ProgressReporter = (label) => ({
    update: (done) => shown.push(`${label} ${done}`),
    finish: () => shown.push(`${label} end`),
  });
  const { calls, encode } = encoding();
  const running = encodeInBackground({ progress }, 1, encode, 2);
  const [first, second] = ['entities', 'messages'].map((label) => calls[0]!.progress(label, 9, 'texts'));
  first!.update(4);
  first!.update(9);
  first!.finish();
  second!.update(1);
  expect(shown).toEqual([]);
  void running.join();
  second!.update(2);
  second!.finish();
  expect(shown).toEqual(['entities 9', 'entities end', 'messages 2', 'messages end']);
});
