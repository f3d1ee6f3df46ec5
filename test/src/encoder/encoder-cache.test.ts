import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { type Database, open as openDatabase } from 'lmdb';
import { type EncoderCache, hasEncoderCache, openEncoderCache } from '../../../src/encoder/encoder-cache.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const spaceA = { encoder: 'a', name: 'A.gguf', mode: 'cpu', dim: 3 };
const spaceB = { encoder: 'b', name: 'B.gguf', mode: 'cpu', dim: 3 };

let folder: string;
let cache: EncoderCache;
beforeEach(async () => {
  folder = folderWith({});
  cache = await openEncoderCache(folder);
});
afterEach(() => cache.close());

async function keep(space: typeof spaceA, text: string, ...values: number[]): Promise<void> {
  const store = cache.space(space);
  store.write(text, '96', Float32Array.from(values), 7);
  await store.commit();
}

function read(space: typeof spaceA, text: string, budget = '96'): number[] | undefined {
  const into = new Float32Array(space.dim);
  return cache.space(space).read(text, budget, into) === 7 ? [...into] : undefined;
}

test('a vector comes back bit for bit, in another session too', async () => {
  await keep(spaceA, 'who?', 0.1, -0, 1e-30);
  await cache.close();
  cache = await openEncoderCache(folder);
  expect(read(spaceA, 'who?')).toEqual([Math.fround(0.1), -0, Math.fround(1e-30)]);
});

test('text, budget, encoder and mode distinguish vectors', async () => {
  await keep(spaceA, 'who?', 1, 2, 3);
  expect(read(spaceA, 'who')).toBeUndefined();
  expect(read(spaceA, 'who?', '128')).toBeUndefined();
  expect(read(spaceB, 'who?')).toBeUndefined();
  expect(read({ ...spaceA, mode: 'gpu' }, 'who?')).toBeUndefined();
});

test('what was written and not committed is lost, and nothing else', async () => {
  await keep(spaceA, 'kept', 1, 2, 3);
  cache.space(spaceA).write('lost', '96', new Float32Array(3), 7);
  expect(read(spaceA, 'kept')).toEqual([1, 2, 3]);
  expect(read(spaceA, 'lost')).toBeUndefined();
});

test('a second handle on the same folder sees commits', async () => {
  const other = await openEncoderCache(folder);
  await keep(spaceA, 'shared', 1, 2, 3);
  expect(other.space(spaceA).read('shared', '96', new Float32Array(3))).toBe(7);
  await other.close();
});

test('a text leased by a living process is not available until it is released', async () => {
  const asked = ['one', 'two'].map((text) => ({ text, budget: '96' }));
  const other = await openEncoderCache(folder);
  const { had, release } = await cache.space(spaceA).lease(asked.slice(1));
  expect(had).toEqual([true]);
  const second = await other.space(spaceA).lease(asked);
  expect(second.had).toEqual([true, false]);
  expect((await cache.space(spaceB).lease(asked)).had).toEqual([true, true]);
  // Gives back what it had, not what another has.
  await second.release();
  expect((await other.space(spaceA).lease(asked)).had).toEqual([true, false]);
  await release();
  expect((await other.space(spaceA).lease(asked.slice(1))).had).toEqual([true]);
  await other.close();
});

test('an expired lease is available to the next', async () => {
  const asked = [{ text: 'one', budget: '96' }];
  expect((await cache.space(spaceA).lease(asked)).had).toEqual([true]);
  expect((await cache.space(spaceA).lease(asked)).had).toEqual([false]);
  jest.useFakeTimers({
    now: Date.now() + 16 * 60_000,
    doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask'],
  });
  try {
    expect((await cache.space(spaceA).lease(asked)).had).toEqual([true]);
  } finally {
    jest.useRealTimers();
  }
});

test('what many texts were taken on and given back leaves a database that opens again', async () => {
  for (let round = 0; round < 6; round++) {
    const asked = Array.from({ length: 300 }, (_, i) => ({ text: `text ${round} ${i}`, budget: '96' }));
    const store = cache.space({ ...spaceA, dim: 576 });
    const { release } = await store.lease(asked);
    for (const { text, budget } of asked) store.write(text, budget, new Float32Array(576).fill(round), 7);
    await store.commit();
    await release();
    await (await openEncoderCache(folder)).close();
  }
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

test('a vector that is not what was written counts as absent, and so does one from before there were checksums', async () => {
  await keep(spaceA, 'whole', 1, 2, 3);
  await keep(spaceA, 'damaged', 4, 5, 6);
  await cache.close();
  const file = join(folder, 'vectors/data.mdb');
  const bytes = readFileSync(file);
  const vector = Buffer.from(Float32Array.of(4, 5, 6).buffer);
  for (let at = bytes.indexOf(vector); at >= 0; at = bytes.indexOf(vector, at + 1)) bytes[at + 5]! ^= 1;
  writeFileSync(file, bytes);
  cache = await openEncoderCache(folder);
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const store = cache.space(spaceA);
  const into = new Float32Array(3);
  expect([store.read('whole', '96', into), store.read('damaged', '96', into), store.damaged]).toEqual([
    7,
    undefined,
    1,
  ]);
  expect(store.read('damaged', '96', into)).toBeUndefined();
  expect(warned.mock.calls).toEqual([
    [`a damaged vector is computed again, at ${join(folder, 'vectors')}`, 'KgwalkWarning'],
  ]);
  warned.mockRestore();
  store.write('damaged', '96', Float32Array.of(4, 5, 6), 7);
  await store.commit();
  expect(read(spaceA, 'damaged')).toEqual([4, 5, 6]);
});

test('a database that lost its end is one clear error at any length', async () => {
  for (let i = 0; i < 40; i++) cache.space(spaceA).write(`text ${i}`, '96', Float32Array.of(i, 0, 0), 7);
  const store = cache.space({ ...spaceA, dim: 700 });
  for (let i = 0; i < 40; i++) store.write(`text ${i}`, '96', new Float32Array(700).fill(i), 7);
  await store.commit();
  await cache.close();
  const bytes = readFileSync(join(folder, 'vectors/data.mdb'));
  for (let length = bytes.length - 1; length > 0; length -= 997) {
    const cut = folderWith({});
    mkdirSync(join(cut, 'vectors'));
    writeFileSync(join(cut, 'vectors/data.mdb'), bytes.subarray(0, length));
    writeFileSync(join(cut, 'vectors/lock.mdb'), '');
    await expect(openEncoderCache(cut)).rejects.toMatchObject({
      code: 'failure',
      hint: expect.stringMatching(/Delete/),
    });
  }
  cache = await openEncoderCache(folder);
});

test('a database that ends before pages allocated and freed in one transaction is whole; without a page in use it is cut', async () => {
  await keep(spaceA, 'kept', 1, 2, 3);
  await cache.close();
  const data = join(folder, 'vectors/data.mdb');
  const write = async (put: (table: Database<Buffer, string>) => void) => {
    const root = openDatabase({ path: join(folder, 'vectors'), maxDbs: 5, noSubdir: false });
    const table = root.openDB<Buffer, string>({ name: 'other', encoding: 'binary' });
    root.transactionSync(() => put(table));
    await root.close();
    return readFileSync(data);
  };
  await write((table) => {
    for (let i = 0; i < 300; i++) table.putSync(`early ${i}`, Buffer.alloc(60));
  });
  const whole = await write((table) => {
    for (let i = 0; i < 300; i++) table.putSync(`text ${i}`, Buffer.alloc(60));
    for (let i = 0; i < 300; i++) table.removeSync(`text ${i}`);
  });
  const lastPage = Math.max(...[0, 4096].map((page) => Number(whole.readBigUInt64LE(page + 144))));
  expect((lastPage + 1) * 4096).toBeGreaterThan(whole.length);
  cache = await openEncoderCache(folder);
  expect(read(spaceA, 'kept')).toEqual([1, 2, 3]);
  await keep(spaceA, 'more', 4, 5, 6);
  expect(read(spaceA, 'more')).toEqual([4, 5, 6]);
  await cache.close();
  // The last pages are those of a large value, behind the lists of free pages.
  const large = await write((table) => table.putSync('early 150', Buffer.alloc(2 ** 20)));
  for (const length of [large.length - 1, large.length - 2 ** 19, large.length - 2 ** 20]) {
    writeFileSync(data, large.subarray(0, length));
    await expect(openEncoderCache(folder)).rejects.toThrow(/cut short/);
  }
  writeFileSync(data, large);
  cache = await openEncoderCache(folder);
});

test('who has a cache open keeps it when its folder is deleted; who opens it then gets another', async () => {
  await keep(spaceA, 'kept', 1, 2, 3);
  rmSync(join(folder, 'vectors'), { recursive: true });
  const other = await openEncoderCache(folder);
  expect(other.info().entries).toBe(0);
  await keep(spaceA, 'later', 4, 5, 6);
  expect([read(spaceA, 'kept'), read(spaceA, 'later')]).toEqual([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  expect(other.info().entries).toBe(0);
  await other.close();
  expect(readdirSync(folder)).toEqual(['vectors']);
});

test('a deletion that was stopped between the two files: data are found again, the lock of data that are gone is not used', async () => {
  await keep(spaceA, 'kept', 1, 2, 3);
  await cache.close();
  rmSync(join(folder, 'vectors/lock.mdb'));
  cache = await openEncoderCache(folder);
  expect(read(spaceA, 'kept')).toEqual([1, 2, 3]);
  rmSync(join(folder, 'vectors/data.mdb'));
  // Open handles keep working, and so does opening again in the same process.
  const second = await openEncoderCache(folder);
  expect(second.info().entries).toBe(1);
  await second.close();
  expect(read(spaceA, 'kept')).toEqual([1, 2, 3]);
  await cache.close();
  cache = await openEncoderCache(folder);
  expect(cache.info().entries).toBe(0);
  await keep(spaceA, 'new', 4, 5, 6);
  expect(read(spaceA, 'new')).toEqual([4, 5, 6]);
});

test.each([
  ['a damaged database', (vectors: string) => writeFileSync(join(vectors, 'data.mdb'), Buffer.alloc(8192, 7))],
  ['data that cannot be opened', (vectors: string) => symlinkSync('/nowhere/data.mdb', join(vectors, 'data.mdb'))],
  ['a lock that cannot be opened', (vectors: string) => mkdirSync(join(vectors, 'lock.mdb'))],
])('%s is one clear error', async (_, damage) => {
  const other = folderWith({});
  mkdirSync(join(other, 'vectors'));
  damage(join(other, 'vectors'));
  if (!existsSync(join(other, 'vectors/lock.mdb'))) writeFileSync(join(other, 'vectors/lock.mdb'), '');
  await expect(openEncoderCache(other)).rejects.toMatchObject({
    code: 'failure',
    hint: expect.stringMatching(/Delete|Check/),
  });
});

test('a folder that cannot be made is one clear error', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await expect(openEncoderCache(file)).rejects.toMatchObject({ code: 'failure' });
  expect(existsSync(join(file, 'vectors'))).toBe(false);
});
