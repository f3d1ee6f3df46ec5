import { expect, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { runInterleaved } from '../../../src/run/concurrency.js';

/** Runs tasks that each take as many turns of the event loop as they say. */
async function trace(turns: readonly number[], concurrency: number) {
  const log: string[] = [];
  let under = 0;
  let most = 0;
  const results = await runInterleaved(
    turns,
    concurrency,
    async (count, index) => {
      log.push(`begin ${index}`);
      most = Math.max(most, ++under);
      for (let i = 0; i < count; i++) await setImmediate();
      under--;
      return index * 10;
    },
    { onDone: (result, index) => log.push(`end ${index} ${result}`) },
  );
  return { log, most, results };
}

test('results come in the order of the tasks, however long each takes', async () => {
  const { results, most } = await trace([9, 1, 5, 0, 3], 3);
  expect(results).toEqual([0, 10, 20, 30, 40]);
  expect(most).toBe(3);
});

test('with a concurrency of 1 each task begins after the one before has ended', async () => {
  const { log } = await trace([3, 0, 1], 1);
  expect(log).toEqual(['begin 0', 'end 0 0', 'begin 1', 'end 1 10', 'begin 2', 'end 2 20']);
});

test('tasks begin in order and a long one holds up no other', async () => {
  const { log } = await trace([20, 1, 1, 1], 2);
  expect(log.filter((line) => line.startsWith('begin'))).toEqual(['begin 0', 'begin 1', 'begin 2', 'begin 3']);
  expect(log.at(-1)).toBe('end 0 0');
});

test('after a failure nothing new begins, and it is thrown when those under way have ended', async () => {
  const ended: number[] = [];
  const running = runInterleaved([4, 1, 2, 2], 2, async (turns, index) => {
    for (let i = 0; i < turns; i++) await setImmediate();
    if (index === 1) throw new Error('broken');
    ended.push(index);
  });
  await expect(running).rejects.toThrow('broken');
  expect(ended).toEqual([0]);
});

test('an abort between two tasks stops even tasks that never wait', async () => {
  const stop = new AbortController();
  setImmediate().then(() => stop.abort());
  let begun = 0;
  const running = runInterleaved(new Array(1000).fill(0), 1, () => Promise.resolve(begun++), {
    signal: stop.signal,
  });
  await expect(running).rejects.toMatchObject({ code: 'stopped' });
  expect(begun).toBeLessThan(1000);
});
