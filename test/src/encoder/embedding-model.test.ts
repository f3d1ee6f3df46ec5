import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { poolingsOf, readEmbeddingModel } from '../../../src/encoder/embedding-model.js';
import { type Entry, plainEntries, type TinyGguf, tinyGguf } from '../../fixtures/tiny-gguf.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const path = join(folderWith({}), 'm.gguf');

function read(file: TinyGguf) {
  writeFileSync(path, tinyGguf(file));
  return readEmbeddingModel(path);
}

const without = (key: string) => plainEntries.filter(([name]) => name !== key);
const withEntry = (...entry: Entry) => [...without(entry[0]), entry];

test('the facts that matter are read', async () => {
  expect(await read({})).toEqual({
    architecture: 'bert',
    dim: 4,
    contextLength: 512,
    pooling: 'mean',
    poolingType: undefined,
    causal: false,
  });
});

test('only a pooling other than the file’s is passed to the library', async () => {
  writeFileSync(path, tinyGguf({ entries: without('bert.pooling_type') }));
  const own = { pooling: 'last', poolingType: undefined, causal: true };
  for (const asked of ['model', 'last'] as const) expect(await readEmbeddingModel(path, asked)).toMatchObject(own);
  expect(await readEmbeddingModel(path, 'mean')).toMatchObject({ pooling: 'mean', poolingType: 1, causal: false });
  expect(await poolingsOf(path)).toEqual(['last', 'mean']);
  writeFileSync(path, tinyGguf({ entries: withEntry('bert.pooling_type', 4, 2) }));
  expect(await readEmbeddingModel(path)).toMatchObject({ pooling: 'cls', poolingType: undefined });
  expect(await readEmbeddingModel(path, 'last')).toMatchObject({ pooling: 'last', poolingType: 3, causal: false });
  expect(await poolingsOf(path)).toEqual(['cls', 'last', 'mean']);
  writeFileSync(path, tinyGguf({ entries: withEntry('bert.pooling_type', 4, 4) }));
  await expect(readEmbeddingModel(path, 'mean')).rejects.toThrow(/reranker/);
  expect(await poolingsOf(path)).toEqual([]);
});

test('tokens see only those before them unless the file says otherwise or means are taken', async () => {
  const last = without('bert.pooling_type');
  expect((await read({ entries: last })).causal).toBe(true);
  expect((await read({ entries: [...last, ['bert.attention.causal', 7, 0]] })).causal).toBe(false);
  expect((await read({})).causal).toBe(false);
});

test.each([
  ['no architecture', { entries: without('general.architecture') }, /without an architecture/],
  ['an adapter', { entries: withEntry('general.type', 8, 'adapter') }, /adapter/],
  ['a reranker', { entries: withEntry('bert.pooling_type', 4, 4) }, /reranker/],
  ['an encoder-decoder', { entries: withEntry('general.architecture', 8, 't5') }, /encoder-decoder/],
  ['no vocabulary', { entries: without('tokenizer.ggml.tokens') }, /without a vocabulary/],
  ['no weights', { tensors: {} }, /without weights/],
  ['no vector length', { entries: without('bert.embedding_length') }, /bert.embedding_length = undefined/],
  ['a context of 2 tokens', { entries: withEntry('bert.context_length', 4, 2) }, /bert.context_length = 2/],
  ['part of a split', { entries: withEntry('split.count', 4, 3) }, /one part of a split model/],
])('%s is refused before anything is loaded', async (_name, file, message) => {
  await expect(read(file)).rejects.toThrow(message);
});
