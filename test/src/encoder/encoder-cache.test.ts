import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EncoderCache, hasEncoderCache, openEncoderCache } from '../../../src/encoder/encoder-cache.js';

const spaceA = { encoder: 'a', name: 'A.gguf', mode: 'cpu', dim: 3 };
const spaceB = { encoder: 'b', name: 'B.gguf', mode: 'cpu', dim: 3 };

let folder: string;
let cache: EncoderCache;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-cache-'));
  cache = await openEncoderCache(folder);
});
afterEach(() => cache.close());

async function keep(space: typeof spaceA, text: string, ...values: number[]): Promise<void> {
  const store = cache.space(space);
  store.write(text, '96', Float32Array.from(values));
  await store.commit();
}

function read(space: typeof spaceA, text: string, budget = '96'): number[] | undefined {
  const into = new Float32Array(space.dim);
  return cache.space(space).read(text, budget, into) ? [...into] : undefined;
}

test('a vector comes back bit for bit, in another session too', async () => {
  await keep(spaceA, 'who?', 0.1, -0, 1e-30);
  await cache.close();
  cache = await openEncoderCache(folder);
  expect(read(spaceA, 'who?')).toEqual([Math.fround(0.1), -0, Math.fround(1e-30)]);
});

test('text, budget, encoder and mode tell vectors apart', async () => {
  await keep(spaceA, 'who?', 1, 2, 3);
  expect(read(spaceA, 'who')).toBeUndefined();
  expect(read(spaceA, 'who?', '128')).toBeUndefined();
  expect(read(spaceB, 'who?')).toBeUndefined();
  expect(read({ ...spaceA, mode: 'gpu' }, 'who?')).toBeUndefined();
});

test('what was written and not committed is lost, and nothing else', async () => {
  await keep(spaceA, 'kept', 1, 2, 3);
  cache.space(spaceA).write('lost', '96', new Float32Array(3));
  expect(read(spaceA, 'kept')).toEqual([1, 2, 3]);
  expect(read(spaceA, 'lost')).toBeUndefined();
});

test('a second handle on the same folder sees commits', async () => {
  const other = await openEncoderCache(folder);
  await keep(spaceA, 'shared', 1, 2, 3);
  expect(other.space(spaceA).read('shared', '96', new Float32Array(3))).toBe(true);
  await other.close();
});

test('info counts by encoder', async () => {
  await keep(spaceA, 'one', 1, 2, 3);
  await keep(spaceA, 'two', 1, 2, 3);
  await keep(spaceB, 'one', 1, 2, 3);
  const { entries, bytes, encoders } = cache.info();
  expect({ entries, bytes }).toEqual({ entries: 3, bytes: 36 });
  expect(encoders.map(({ name, entries: n }) => [name, n]).sort()).toEqual([
    ['A.gguf', 2],
    ['B.gguf', 1],
  ]);
});

test('clear deletes the vectors and the files', async () => {
  await keep(spaceA, 'one', 1, 2, 3);
  expect(await cache.clear()).toBe(1);
  expect(hasEncoderCache(folder)).toBe(false);
  cache = await openEncoderCache(folder);
  expect(read(spaceA, 'one')).toBeUndefined();
  expect(cache.info().entries).toBe(0);
});

test('a file is hashed again when it changes', async () => {
  const path = join(folder, 'm.gguf');
  writeFileSync(path, 'abc');
  const first = await cache.fileHash(path);
  expect(first).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(await cache.fileHash(path)).toBe(first);
  writeFileSync(path, 'abcd');
  expect(await cache.fileHash(path)).not.toBe(first);
});

test('a damaged database is one clear error', async () => {
  const other = mkdtempSync(join(tmpdir(), 'kgwalk-cache-'));
  mkdirSync(join(other, 'vectors'));
  writeFileSync(join(other, 'vectors/data.mdb'), Buffer.alloc(8192, 7));
  await expect(openEncoderCache(other)).rejects.toMatchObject({
    code: 'failure',
    hint: expect.stringMatching(/Delete/),
  });
});

test('a folder that cannot be made is one clear error', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await expect(openEncoderCache(file)).rejects.toMatchObject({ code: 'failure' });
  expect(existsSync(join(file, 'vectors'))).toBe(false);
});
