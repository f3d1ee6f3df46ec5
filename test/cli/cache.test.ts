import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { openEncoderCache } from '../../src/encoder/encoder-cache.js';
import { printed } from '../fixtures/command-line.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kgwalk-home-'));
  env.KGWALK_HOME = home;
});
afterEach(() => {
  delete env.KGWALK_HOME;
});

const kgwalk = (...words: string[]) => printed('cache', ...words);

async function fill(): Promise<void> {
  const cache = await openEncoderCache(join(home, 'cache'));
  const store = cache.space({ encoder: 'id', name: 'M.gguf', mode: 'cpu', dim: 2 });
  store.write('a', '96', new Float32Array(2), 7);
  await store.commit();
  await cache.close();
}

test('info on an empty home says so and makes nothing', async () => {
  expect(JSON.parse(await kgwalk('info', '--json'))).toMatchObject({ entries: 0, bytes: 0, encoders: [] });
  expect(existsSync(join(home, 'cache'))).toBe(false);
});

test('info counts vectors by encoder', async () => {
  await fill();
  expect(JSON.parse(await kgwalk('info', '--json'))).toMatchObject({
    entries: 1,
    bytes: 8,
    encoders: [{ name: 'M.gguf', id: 'id', mode: 'cpu', dim: 2, entries: 1 }],
  });
  expect(await kgwalk('info')).toMatch(/M\.gguf +1 +2/);
});

test('clear asks for --yes, then deletes', async () => {
  await fill();
  await expect(kgwalk('clear')).rejects.toThrow(/expected --yes to delete 1 vectors/);
  expect(JSON.parse(await kgwalk('clear', '--yes', '--json'))).toMatchObject({ cleared: 1 });
  expect(JSON.parse(await kgwalk('info', '--json'))).toMatchObject({ entries: 0 });
});

test('what was asked of graphs behind endpoints is shown and deleted with them', async () => {
  const folder = join(home, 'cache', 'graphs', '0123456789abcdef');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'data.mdb'), Buffer.alloc(4096));
  expect(JSON.parse(await kgwalk('info', '--json'))).toMatchObject({ graphs: { entries: 1, bytes: 4096 } });
  expect(await kgwalk('info')).toContain('answers of 1 graph, 0 MiB, in ');
  await expect(kgwalk('clear')).rejects.toThrow('expected --yes to delete 0 vectors and answers of 1 graph');
  expect(await kgwalk('clear', '--yes')).toContain('answers of 1 graph deleted from ');
  expect(existsSync(folder)).toBe(false);
});
