/** Packs of vectors: from the cache of one machine into that of another, and nothing that is no pack. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import { type EncoderCache, openEncoderCache } from '../../../src/encoder/encoder-cache.js';
import { readPacks, writePacks } from '../../../src/encoder/vector-packs.js';
import { Rng } from '../../../src/run/seeds.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const open: EncoderCache[] = [];
afterEach(async () => {
  for (const cache of open.splice(0)) await cache.close();
});
async function newCache(): Promise<EncoderCache> {
  const cache = await openEncoderCache(folderWith({}));
  open.push(cache);
  return cache;
}

const [small, large] = [
  { encoder: 'one', name: 'One.gguf', mode: 'cpu', dim: 3 },
  { encoder: 'two', name: 'Two.gguf', mode: 'server', dim: 40 },
];
const vectorOf = (text: string, dim: number) => {
  const rng = Rng.named(0, text);
  return Float32Array.from({ length: dim }, () => rng.normal());
};

async function keep(cache: EncoderCache, space: typeof small, texts: readonly string[]): Promise<void> {
  const store = cache.space(space);
  for (const text of texts) {
    store.write(text, '96', vectorOf(text, space.dim));
    // Vectors of earlier versions came without.
    if (!text.startsWith('old')) store.writeTokens(text, '96', text.length);
  }
  await store.commit();
}

function kept(cache: EncoderCache, space: typeof small, texts: readonly string[]) {
  const store = cache.space(space);
  return texts.map((text) => {
    const vector = new Float32Array(space.dim);
    return store.read(text, '96', vector) ? [vector, store.readTokens(text, '96')] : undefined;
  });
}

const texts = (from: number, count: number) => Array.from({ length: count }, (_, i) => `text ${from + i}`);

describe('packs', () => {
  test('bring the vectors of several machines together, each once, with their tokens', async () => {
    const folder = join(folderWith({}), 'packs');
    const machines = [await newCache(), await newCache()] as const;
    await keep(machines[0], small, [...texts(0, 5), 'old']);
    await keep(machines[0], large, texts(0, 30));
    await keep(machines[1], small, texts(3, 5));
    expect(await writePacks(machines[0], folder)).toEqual({ packs: 2, vectors: 36 });
    expect(await writePacks(machines[1], folder)).toEqual({ packs: 1, vectors: 3 });
    expect(await writePacks(machines[1], folder)).toEqual({ packs: 0, vectors: 0 });
    const third = await newCache();
    await keep(third, small, ['text 4', 'own']);
    expect(await readPacks(third, folder)).toEqual({ packs: 3, vectors: 38, known: 1 });
    for (const [space, all] of [
      [small, [...texts(0, 8), 'old', 'own']],
      [large, texts(0, 30)],
    ] as const) {
      const wanted = all.map((text) => [vectorOf(text, space.dim), text === 'old' ? undefined : text.length]);
      expect(kept(third, space, all)).toEqual(wanted);
    }
    expect(
      third
        .info()
        .encoders.map(({ name, entries }) => [name, entries])
        .sort(),
    ).toEqual([
      ['One.gguf', 10],
      ['Two.gguf', 30],
    ]);
    expect(await readPacks(third, folder)).toEqual({ packs: 3, vectors: 0, known: 39 });
  });

  test('are bounded, named by what is in them, and equal where that is equal', async () => {
    const [one, other] = [folderWith({}), folderWith({})];
    for (const folder of [one, other]) {
      const cache = await newCache();
      await keep(cache, large, folder === one ? texts(0, 20) : texts(0, 20).reverse());
      expect(await writePacks(cache, folder, { most: 188 * 8 })).toEqual({ packs: 3, vectors: 20 });
    }
    const names = readdirSync(one).sort();
    expect(readdirSync(other).sort()).toEqual(names);
    for (const name of names) {
      const bytes = readFileSync(join(one, name));
      expect(name).toBe(`${createHash('sha256').update(bytes).digest('hex')}.arrow`);
      const { schema, numRows } = tableFromIPC(bytes);
      expect(Object.fromEntries(schema.metadata)).toMatchObject({ encoder: 'two', dim: '40' });
      expect(numRows).toBeLessThanOrEqual(8);
    }
  });

  test('that were cut, altered, renamed, or are something else are refused, and nothing of them is kept', async () => {
    const spoil: Record<string, (file: string) => void> = {
      cut: (file) => truncateSync(file, 100),
      altered: (file) => {
        const bytes = readFileSync(file);
        bytes[bytes.length >> 1]! ^= 1;
        writeFileSync(file, bytes);
      },
      renamed: (file) =>
        renameSync(
          file,
          file.replace(/[0-9a-f](?=\.arrow)/, (digit) => (digit === '0' ? '1' : '0')),
        ),
      'of other columns': (file) => {
        const bytes = tableToIPC(tableFromArrays({ a: Int32Array.of(1) }), 'file');
        renameSync(file, join(file, '../gone'));
        writeFileSync(join(file, '..', `${createHash('sha256').update(bytes).digest('hex')}.arrow`), bytes);
      },
      'no Arrow at all': (file) => {
        renameSync(file, join(file, '../gone'));
        const text = 'hello';
        writeFileSync(join(file, '..', `${createHash('sha256').update(text).digest('hex')}.arrow`), text);
      },
    };
    for (const [how, spoils] of Object.entries(spoil)) {
      const folder = folderWith({});
      const cache = await newCache();
      await keep(cache, small, texts(0, 4));
      await writePacks(cache, folder);
      spoils(join(folder, readdirSync(folder)[0]!));
      const other = await newCache();
      const refused = await readPacks(other, folder).catch((error: unknown) => error);
      expect([how, refused]).toEqual([
        how,
        expect.objectContaining({ code: 'data', message: expect.stringContaining('expected a pack of vectors') }),
      ]);
      expect([how, other.info().entries]).toEqual([how, 0]);
      await expect(writePacks(cache, folder)).rejects.toMatchObject({ code: 'data' });
    }
  });

  test('of a folder that is not there are refused; other files are left alone', async () => {
    const cache = await newCache();
    await expect(readPacks(cache, join(folderWith({}), 'none'))).rejects.toMatchObject({ code: 'data' });
    expect(await readPacks(cache, folderWith({ 'README.md': 'hello' }))).toEqual({ packs: 0, vectors: 0, known: 0 });
    const folder = join(folderWith({}), 'new', 'packs');
    expect(await writePacks(cache, folder)).toEqual({ packs: 0, vectors: 0 });
    expect(existsSync(folder)).toBe(true);
  });
});
