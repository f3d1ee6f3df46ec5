/** Stores: a folder, and a bucket of S3. `KGWALK_TEST_STORE` names a real one to hold to the same, such as `s3://bucket/prefix` with the variables of AWS. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openStore } from '../../jobs/store.js';
import { often } from '../fixtures/long-tests.js';
import { openS3Server } from '../fixtures/s3-server.js';
import { folderWith } from '../fixtures/tiny-release.js';

type Server = Awaited<ReturnType<typeof openS3Server>>;
let server: Server | undefined;
let folder: string;

beforeEach(() => {
  folder = folderWith({});
});
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const real = env.KGWALK_TEST_STORE;
const kinds: [string, () => Promise<string>][] = [
  ['a folder', async () => join(folder, 'store')],
  [
    'a bucket',
    async () => {
      server = await openS3Server('results');
      return 's3://results/some/prefix';
    },
  ],
  ...(real === undefined
    ? []
    : [['a real one', async () => `${real}/${Date.now()}`] satisfies [string, () => Promise<string>]]),
];

describe.each(kinds)('%s', (_, addressOf) => {
  test('gives back what was put in, by name', async () => {
    const store = await openStore(await addressOf());
    expect(await store.read('a/none')).toBeUndefined();
    expect(await store.download('a/none', join(folder, 'none'))).toBe(false);
    await store.write('a/text', 'first');
    await store.write('a/text', 'second, é');
    expect(await store.read('a/text')).toBe('second, é');
    const file = join(folder, 'bytes');
    writeFileSync(file, Buffer.from([0, 255, 10, 13]));
    await store.write('b/bytes', { file });
    expect(await store.download('b/bytes', join(folder, 'deep', 'copy'))).toBe(true);
    expect([...readFileSync(join(folder, 'deep', 'copy'))]).toEqual([0, 255, 10, 13]);
    expect(await store.holds('b/bytes', file)).toBe(true);
    await store.write('b/bytes', '');
    expect(await store.holds('b/bytes', file)).toBe(false);
    await store.remove('a/text');
    await store.remove('a/text');
    expect(await store.read('a/text')).toBeUndefined();
  });

  test('lists names, all of them, in order', async () => {
    const store = await openStore(await addressOf());
    const names = ['l/c', 'l/a', 'l/b/x', 'l/e', 'l/d', 'm/z'];
    for (const name of names) await store.write(name, name);
    expect(await store.list('l/')).toEqual(['l/a', 'l/b/x', 'l/c', 'l/d', 'l/e']);
    expect(await store.list('nothing/')).toEqual([]);
  });

  test('takes a name once, of twenty who try at once', async () => {
    const store = await openStore(await addressOf());
    const tries = await Promise.all(Array.from({ length: 20 }, (_, i) => store.writeOnce('once/x', `writer ${i}`)));
    expect(tries.filter(Boolean)).toHaveLength(1);
    expect(await store.read('once/x')).toBe(`writer ${tries.indexOf(true)}`);
  });
});

test('a store that refuses every fifth write has everything in the end, and a name belongs to who gave it', async () => {
  const count = often(10, 40);
  server = await openS3Server('results', { refusesEvery: 5 });
  const store = await openStore('s3://results');
  const mine = await Promise.all(Array.from({ length: count }, (_, i) => store.writeOnce(`x/${i}`, `${i}`)));
  expect(mine).toEqual(mine.map(() => true));
  expect(server.refused()).toBeGreaterThanOrEqual(count / 5);
  expect(await store.list('x/')).toHaveLength(count);
  expect(await store.writeOnce('x/3', 'another')).toBe(false);
});

describe('refuses with one clear error', () => {
  test('a store without conditional writes', async () => {
    server = await openS3Server('results', { ignoresConditions: true });
    await expect(openStore('s3://results')).rejects.toThrow(
      'expected a store that takes a name once (If-None-Match), got one that took it twice, at s3://results',
    );
    expect([...server.held.keys()]).toEqual([]);
  });

  test.each([
    ['s3://Results', 'expected s3://BUCKET/PREFIX, got s3://Results, at --store'],
    ['gs://results', 'expected a store, s3://BUCKET/PREFIX or a folder, got gs://results, at --store'],
    ['s3://other', 'expected a bucket that may be read and written, got NoSuchBucket'],
  ])('%s', async (address, message) => {
    server = await openS3Server('results');
    await expect(openStore(address)).rejects.toThrow(message);
  });

  test('a bucket that may not be written', async () => {
    server = await openS3Server('results', { status: 403 });
    await expect(openStore('s3://results')).rejects.toThrow('expected a bucket that may be read and written');
  });

  test('a server that is away', async () => {
    server = await openS3Server('results');
    await server.close();
    Object.assign(env, { AWS_ENDPOINT_URL: 'http://127.0.0.1:9', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' });
    try {
      await expect(openStore('s3://results')).rejects.toThrow(
        'expected a store that answers, got connect ECONNREFUSED',
      );
    } finally {
      for (const name of ['AWS_ENDPOINT_URL', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) delete env[name];
      server = undefined;
    }
  });

  test('names that lead out of a folder', async () => {
    const store = await openStore(join(folder, 'store'));
    await expect(store.write('../outside', 'x')).rejects.toThrow('expected a name inside');
  });
});
