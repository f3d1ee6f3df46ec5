import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { dot, type EncodedTexts } from '../../../src/encoder/state-encoder.js';
import { rowsOf, useEncoders } from '../../fixtures/open-encoders.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const models = env.KGWALK_TEST_DATA && join(env.KGWALK_TEST_DATA, 'models');
const available = Boolean(models && existsSync(models));
if (!available) stderr.write('real models are skipped: set KGWALK_TEST_DATA to the folder that holds models/\n');

const tinyLlama = join(models ?? '', 'stories260K.f32.gguf');
const miniLm = join(models ?? '', 'all-MiniLM-L6-v2.Q8_0.gguf');
const opened = useEncoders();
const open = (modelPath: string, cacheFolder?: string, settings: object = {}) =>
  opened(modelPath, { workers: 2, ...settings }, cacheFolder);

const vectors = (texts: readonly string[], encoded: EncodedTexts) =>
  new Map(rowsOf(encoded).map((vector, i) => [texts[i]!, vector]));

const stories = Array.from(
  { length: 12 },
  (_, i) => `Once upon a time there were ${i} little ${'very '.repeat(i)}birds.`,
);

describe.each([
  { name: 'a Llama, last token', modelPath: tinyLlama, dim: 64 },
  { name: 'a sentence encoder, mean', modelPath: miniLm, dim: 384 },
])('$name', ({ modelPath, dim }) => {
  const run = available ? test : test.skip;

  run('a vector depends on its text alone: not on order, neighbours, workers or the cache', async () => {
    const cacheFolder = folderWith({});
    const cold = await open(modelPath, cacheFolder);
    const expected = vectors(stories, await cold.encode(stories));
    const warm = await open(modelPath, cacheFolder);
    expect(vectors(stories, await warm.encode(stories))).toEqual(expected);
    const reversed = stories.toReversed().slice(0, 7);
    const alone = await open(modelPath, folderWith({}), { workers: 1 });
    for (const [text, vector] of vectors(reversed, await alone.encode(reversed))) {
      expect(vector).toEqual(expected.get(text));
    }
    expect(cold.counters).toMatchObject({ requests: 12, encodes: 12, cacheHits: 0 });
    expect(warm.counters).toMatchObject({ requests: 12, encodes: 0, cacheHits: 12, tokens: 0 });
    expect(cold.dim).toBe(dim);
    expect(warm.id).toBe(cold.id);
  });

  run('distinct texts are encoded once, blank ones never', async () => {
    const encoder = await open(modelPath);
    const texts = ['a bird', '', 'a bird', ' \n', 'a tree'];
    const progress: number[] = [];
    const encoded = await encoder.encode(texts, { onProgress: (done, total) => progress.push(done / total) });
    expect(encoder.counters).toMatchObject({ requests: 5, encodes: 2 });
    expect(encoder.counters.tokens).toBeGreaterThan(2);
    expect(vectors(texts, encoded).get('')).toEqual(new Float32Array(dim));
    const bird = vectors(texts, encoded).get('a bird')!;
    expect(dot(bird, bird)).toBeCloseTo(1, 6);
    expect(progress).toEqual([0.5, 0.75, 1]);
  });

  run('a budget keeps the end of the text, and does not touch texts that fit', async () => {
    const encoder = await open(modelPath);
    const texts = ['red blue green the bird sang', 'yellow white black the bird sang'];
    const [a, b] = [...vectors(texts, await encoder.encode(texts, { maxTokens: 2 })).values()];
    expect(a).toEqual(b);
    const small = vectors(texts, await encoder.encode(texts, { maxTokens: 40 }));
    const other = await open(modelPath);
    expect(vectors(texts, await other.encode(texts, { maxTokens: 400 }))).toEqual(small);
  });

  run('a text longer than the model takes keeps its end', async () => {
    const encoder = await open(modelPath);
    const encoded = await encoder.encode(['bird sang. '.repeat(900)]);
    expect(encoder.counters.tokens).toBeLessThan(512);
    expect(encoded.matrix.every(Number.isFinite)).toBe(true);
  });

  run('a stop keeps what was done', async () => {
    const cacheFolder = folderWith({});
    const encoder = await open(modelPath, cacheFolder);
    const abort = new AbortController();
    const onProgress = (done: number) => done === 5 && abort.abort();
    const stopped = encoder.encode(stories, { signal: abort.signal, onProgress: (done) => void onProgress(done) });
    await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
    const { encodes } = encoder.counters;
    const next = await open(modelPath, cacheFolder);
    await next.encode(stories);
    expect(next.counters).toMatchObject({ encodes: 12 - encodes, cacheHits: encodes });
  });

  run('a file that is cut short is refused before it is loaded', async () => {
    const path = join(folderWith({}), 'cut.gguf');
    const whole = readFileSync(modelPath);
    writeFileSync(path, whole.subarray(0, Math.floor(whole.length / 2)));
    await expect(open(path)).rejects.toMatchObject({
      code: 'data',
      message: expect.stringMatching(/cut short.*cut\.gguf/),
    });
  });
});

(available ? test : test.skip)('a sentence encoder puts related texts together', async () => {
  const texts = ['Who directed Inception?', 'film director', 'potato soup recipe'];
  const [question, near, far] = rowsOf(await (await open(miniLm)).encode(texts));
  expect(dot(question!, near!)).toBeGreaterThan(dot(question!, far!) + 0.2);
});

(available ? test : test.skip)('without normalisation the model’s own lengths stay, under another id', async () => {
  const raw = await open(miniLm, folderWith({}), { normalize: false });
  const unit = await open(miniLm);
  const [a, b] = [(await raw.encode(['a bird'])).matrix, (await unit.encode(['a bird'])).matrix];
  const length = Math.sqrt(dot(a, a));
  expect(length).toBeGreaterThan(2);
  expect(a[0]! / length).toBeCloseTo(b[0]!, 6);
  expect(raw.id).not.toBe(unit.id);
});

(available ? test : test.skip).each(['SmolLM2-135M-Instruct.Q4_1.gguf', 'stories260K.f32.gguf'])(
  '%s with prefix reuse: the vectors of each text alone, close to the other mode’s',
  async (file) => {
    const path = join(models!, file);
    const begin = 'Once upon a time a little bird asked a big tree for a song about the north and the sea. '.repeat(2);
    const texts = [1, 2, 3, 4, 5].map((i) => `${begin}The tree ${'sang and '.repeat(i)}slept.`);
    const together = await open(path, folderWith({}), { prefixReuse: 'auto' });
    const expected = vectors(texts, await together.encode(texts));
    const text = texts[0]!;
    const alone = await open(path, folderWith({}), { prefixReuse: 'auto', workers: 1 });
    expect((await alone.encode([text])).matrix).toEqual(expected.get(text));
    const plain = (await (await open(path)).encode([text])).matrix;
    expect(dot(plain, expected.get(text)!)).toBeGreaterThan(0.999);
    const { tokens, reusedTokens } = together.counters;
    expect(reusedTokens / (tokens + reusedTokens)).toBeGreaterThan(0.4);
  },
);

(available ? test : test.skip)(
  'a sentence encoder reads in both directions: it has no beginnings to reuse',
  async () => {
    const [off, auto] = [await open(miniLm), await open(miniLm, folderWith({}), { prefixReuse: 'auto' })];
    expect(auto.id).toBe(off.id);
    await auto.encode(stories);
    expect(auto.counters.reusedTokens).toBe(0);
  },
);
