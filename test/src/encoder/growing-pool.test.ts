import { expect, test } from '@jest/globals';
import { growingPool } from '../../../src/encoder/llama-encoder.js';

/** Opens sizes as values, and writes down what is opened and closed. */
function watched() {
  const log: string[] = [];
  const lend = growingPool(async (size) => {
    log.push(`open ${size}`);
    if (size === 13) throw new Error('no room');
    return { value: size, close: async () => void log.push(`close ${size}`) };
  });
  return { log, lend };
}

test('what is large enough is used again, and what is too small is replaced', async () => {
  const { log, lend } = watched();
  const sizes = [];
  for (const size of [2, 1, 4, 3]) sizes.push(await lend.use(size, async (value) => value));
  expect(sizes).toEqual([2, 2, 4, 4]);
  expect(log).toEqual(['open 2', 'close 2', 'open 4']);
});

test('what is replaced while it is used closes after its last use', async () => {
  const { log, lend } = watched();
  let finish = () => {};
  const first = lend.use(1, () => new Promise<void>((resolve) => (finish = resolve)));
  const second = lend.use(1, async (value) => value);
  expect(await lend.use(5, async (value) => value)).toBe(5);
  expect(await second).toBe(1);
  expect(log).toEqual(['open 1', 'open 5']);
  finish();
  await first;
  expect(log).toEqual(['open 1', 'open 5', 'close 1']);
  expect(await lend.use(1, async (value) => value)).toBe(5);
});

test('a failure to open rejects the pending calls, and the next call opens again', async () => {
  const { log, lend } = watched();
  await lend.use(1, async () => {});
  await expect(lend.use(13, async () => {})).rejects.toThrow('no room');
  expect(await lend.use(3, async (value) => value)).toBe(3);
  expect(log).toEqual(['open 1', 'close 1', 'open 13', 'open 3']);
});

test('work that fails gives back what it was lent', async () => {
  const { log, lend } = watched();
  await expect(lend.use(1, () => Promise.reject(new Error('work')))).rejects.toThrow('work');
  await lend.use(2, async () => {});
  expect(log).toEqual(['open 1', 'close 1', 'open 2']);
});
