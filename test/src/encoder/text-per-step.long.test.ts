/** Encoders of GGUF files: what one text per step costs, what texts begin with, and the facts of the file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { poolingsOf, readEmbeddingModel } from '../../../src/encoder/embedding-model.js';
import { readGgufHeader } from '../../../src/llm/gguf/read-header.js';
import { dot } from '../../../src/encoder/state-encoder.js';
import { rowsOf, useEncoders } from '../../fixtures/open-encoders.js';
import { type Entry, plainEntries, type TinyGguf, tinyGguf } from '../../fixtures/tiny-gguf.js';
import { tinyLlama } from '../../fixtures/tiny-llama.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const { path } = await tinyLlama();
const opened = useEncoders();
const open = (settings: object = {}, folder?: string, model = path) => opened(model, settings, folder);

const begin = 'The film The Winter Sea was directed by Mara Lind. Who wrote it? ';
/** Two explorations of each of three states: every text twice. */
const asked = [1, 2, 3, 1, 2, 3].map((i) => `${begin}Now at ${'node '.repeat(i)}${i}`);
const long = begin.repeat(12);

test('B-ARK-17: encodes are distinct states, and the cost of the copies is counted separately', async () => {
  for (const prefixReuse of ['off', 'auto']) {
    const encoder = await open({ prefixReuse });
    const counts = await encoder.countTokens(asked);
    await encoder.encode(asked);
    await encoder.encode(asked.slice(0, 2));
    const { encodes, tokens, reusedTokens, requests, askedTokens } = encoder.counters;
    expect({ encodes, requests }).toEqual({ encodes: 3, requests: 8 });
    // This model puts one token before and one after each text.
    const whole = (texts: number) => counts.subarray(0, texts).reduce((sum, count) => sum + count + 2, 0);
    expect(tokens + reusedTokens).toBe(whole(3));
    expect(askedTokens).toBe(whole(6) + whole(2));
  }
});

test('texts from the cache are counted like others', async () => {
  const folder = folderWith({});
  const first = await open({}, folder);
  await first.encode(asked);
  const warm = await open({}, folder);
  await warm.encode(asked);
  expect(warm.counters).toMatchObject({ encodes: 0, tokens: 0, askedTokens: first.counters.askedTokens });
});

test('what is held is known without encoding, by text and budget', async () => {
  const encoder = await open();
  await encoder.encode(asked.slice(0, 2));
  await encoder.encode([long], { maxTokens: 40 });
  expect(encoder.held([...asked, ' '])).toEqual(Uint8Array.of(1, 1, 0, 1, 1, 0, 1));
  expect([encoder.held([long])[0], encoder.held([long], { maxTokens: 40 })[0]]).toEqual([0, 1]);
  expect(encoder.counters).toMatchObject({ encodes: 3, cacheHits: 0, requests: 3 });
});

test('B-ARK-8: a text that does not fit is refused where nothing may be cut, before anything is encoded', async () => {
  const encoder = await open();
  const [count] = await encoder.countTokens([long]);
  expect(count).toBeGreaterThan(256);
  const refused = encoder.encode([...asked, long], { overlong: 'refuse' });
  await expect(refused).rejects.toMatchObject({
    code: 'data',
    message: expect.stringMatching(
      new RegExp(`at most 253 tokens, got one of ${count}: "The film The Winter Sea .*…", at .*context of 256 tokens`),
    ),
  });
  expect(encoder.counters).toMatchObject({ encodes: 0, askedTokens: 0 });
  await expect(encoder.encode([asked[0]!], { overlong: 'refuse', maxTokens: 5 })).rejects.toThrow(/at most 5 tokens/);
  // Without `refuse` the end of the text is encoded.
  await encoder.encode([long]);
  expect(encoder.counters).toMatchObject({ encodes: 1, askedTokens: 255 });
});

test('exactly what fits is not refused, and a vector that was cut does not pass for a whole one', async () => {
  const encoder = await open();
  let text = `${begin.repeat(5)}é`;
  while ((await encoder.countTokens([text]))[0]! < 253) text += ' 7';
  expect(await encoder.countTokens([text])).toEqual(Int32Array.of(253));
  await encoder.encode([text, long]);
  await encoder.encode([text], { overlong: 'refuse' });
  await expect(encoder.encode([`${text} 7`], { overlong: 'refuse' })).rejects.toMatchObject({ code: 'data' });
  await expect(encoder.encode([long], { overlong: 'refuse' })).rejects.toMatchObject({ code: 'data' });
});

test('means are other vectors under another id, of whole texts, in every order', async () => {
  const folder = folderWith({});
  const [last, mean] = [await open({}, folder), await open({ pooling: 'mean' }, folder)];
  const auto = await open({ pooling: 'mean', prefixReuse: 'auto' });
  expect(mean.id).toBe(last.id.replace(':last:', ':mean:'));
  expect(auto.id).toBe(mean.id);
  const [a, b] = [(await last.encode(asked)).matrix, (await mean.encode(asked)).matrix];
  expect(mean.counters).toMatchObject({ encodes: 3, cacheHits: 0 });
  expect(a).not.toEqual(b);
  expect((await auto.encode(asked.slice(1, 4))).matrix.subarray(2 * auto.dim)).toEqual(b.subarray(0, auto.dim));
  expect(auto.counters.reusedTokens).toBe(0);
  // What the file says anyway is the same encoder.
  expect((await open({ pooling: 'last' })).id).toBe(last.id);
});

test('an id, so the cache key, names file, pooling, scale, size of a batch and library, as it always did', async () => {
  const rest = (pooling: string, batch: string) =>
    new RegExp(`^gguf:[0-9a-f]{64}:${pooling}:l2:${batch}:node-llama-cpp@[0-9.]+$`);
  expect((await open()).id).toMatch(rest('last', 'single'));
  expect((await open({ prefixReuse: 'auto' })).id).toMatch(rest('last', 'blocks-16'));
  expect((await open({ pooling: 'mean', prefixReuse: 'auto' })).id).toMatch(rest('mean', 'single'));
});

test.each(['last', 'mean'])('a vector (%s) does not depend on how large contexts have grown', async (pooling) => {
  // A model of a longer context than the steps in which contexts grow.
  const model = (await tinyLlama({ contextLength: 1024 })).path;
  const fresh = await open({ pooling }, undefined, model);
  const grown = await open({ pooling }, undefined, model);
  await grown.encode([asked[1]!]);
  // More than 512 tokens after fewer than 256.
  await grown.encode([begin.repeat(20)]);
  expect((await grown.encode([asked[0]!])).matrix).toEqual((await fresh.encode([asked[0]!])).matrix);
  expect((await fresh.encode([long])).matrix).toEqual((await grown.encode([long])).matrix);
});

test('the hashed encoder counts its own tokens, and refuses and counts alike', async () => {
  const encoder = await open({}, undefined, 'hashed:16');
  expect(await encoder.countTokens(['', 'one, two', 'Three'])).toEqual(Int32Array.of(0, 3, 1));
  await encoder.encode(['one two', 'one two', 'three', ' ']);
  expect(encoder.counters).toMatchObject({ requests: 4, encodes: 2, tokens: 3, askedTokens: 5 });
  const refused = encoder.encode(['one two three'], { maxTokens: 2, overlong: 'refuse' });
  await expect(refused).rejects.toThrow(/at most 2 tokens, got one of 3: "one two three", at hashed:16/);
});

describe('reuse of what texts begin with', () => {
  const reusing = (settings: object = {}, folder?: string) => open({ prefixReuse: 'auto', ...settings }, folder);
  const task = `${begin}Reply with names, nothing else. `;
  const dialogues = ['She asked for a song of the north.', 'He reads old letters.', 'They walk to the house of stone.'];
  /** States of three dialogues, out of order: what was said first, then where the walk stands. */
  const states = [7, 2, 5, 0, 8, 3, 6, 1, 4].map(
    (i) => `${task}${dialogues[i % 3]} Now at ${'node '.repeat(1 + (i % 4))}${i}`,
  );

  test('vectors are bit for bit those of each text alone, in any order and on any number of lanes', async () => {
    const together = await reusing();
    const expected = rowsOf(await together.encode(states));
    for (const [i, text] of states.slice(0, 2).entries()) {
      const alone = await reusing();
      expect(rowsOf(await alone.encode([text]))[0]).toEqual(expected[i]);
      expect(alone.counters.reusedTokens).toBe(0);
    }
    const lanes = await reusing({ workers: 3 });
    expect(rowsOf(await lanes.encode(states.toReversed())).toReversed()).toEqual(expected);
    const bit = await reusing();
    for (const half of [states.slice(0, 4), states.slice(4)]) await bit.encode(half);
    expect(rowsOf(await bit.encode(states))).toEqual(expected);
  });

  test('what texts begin with is evaluated once', async () => {
    const [off, auto] = [await open({ prefixReuse: 'off' }), await reusing()];
    await off.encode([...states, states[0]!]);
    await auto.encode([...states, states[0]!]);
    expect(off.counters).toMatchObject({ encodes: states.length, reusedTokens: 0 });
    const { encodes, tokens, reusedTokens } = auto.counters;
    expect(encodes).toBe(states.length);
    // Every token is either evaluated or was there already.
    expect(tokens + reusedTokens).toBe(off.counters.tokens);
    expect(reusedTokens / off.counters.tokens).toBeGreaterThan(0.55);
    expect(reusedTokens % 16).toBe(0);
  });

  test('vectors are those of the other mode up to rounding, and are never taken for them', async () => {
    const folder = folderWith({});
    const [off, auto] = [await open({ prefixReuse: 'off' }, folder), await reusing({}, folder)];
    const [one, other] = [rowsOf(await off.encode(states)), rowsOf(await auto.encode(states))];
    for (const [i, vector] of one.entries()) expect(dot(vector, other[i]!)).toBeGreaterThan(0.9999);
    expect(auto.id).not.toBe(off.id);
    expect(auto.counters).toMatchObject({ encodes: states.length, cacheHits: 0 });
  });

  test('a stop between two texts leaves lanes that still give the right vectors', async () => {
    const expected = rowsOf(await (await reusing()).encode(states));
    const encoder = await reusing();
    const abort = new AbortController();
    const stopped = encoder.encode(states, { signal: abort.signal, onProgress: (done) => done === 4 && abort.abort() });
    await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
    expect(rowsOf(await encoder.encode(states))).toEqual(expected);
    expect(encoder.counters).toMatchObject({ encodes: states.length, cacheHits: 4 });
  });

  test.each(['off', 'auto'])(
    'two calls at once, of one encoder or of two, encode each text once (reuse %s)',
    async (prefixReuse) => {
      const expected = rowsOf(await (await open({ prefixReuse })).encode(states));
      const folder = folderWith({});
      const [one, two] = [await open({ prefixReuse }, folder), await open({ prefixReuse }, folder)];
      const all = await Promise.all([one.encode(states), one.encode(states.slice(2)), two.encode(states)]);
      expect(one.counters.encodes + two.counters.encodes).toBe(states.length);
      expect(rowsOf(all[0])).toEqual(expected);
      expect(rowsOf(all[1])).toEqual(expected.slice(2));
      expect(rowsOf(all[2])).toEqual(expected);
    },
  );
});

describe('an embedding model', () => {
  const file = join(folderWith({}), 'm.gguf');

  function read(content: TinyGguf) {
    writeFileSync(file, tinyGguf(content));
    return readEmbeddingModel(file);
  }

  const without = (key: string) => plainEntries.filter(([name]) => name !== key);
  const withEntry = (...entry: Entry) => [...without(entry[0]), entry];

  test('the facts that matter are read', async () => {
    const whole = tinyGguf({});
    writeFileSync(file, whole);
    const { metadata, arrayLengths, tensors } = readGgufHeader(file);
    expect([metadata.get('general.architecture'), metadata.get('bert.context_length')]).toEqual(['bert', 512]);
    expect(arrayLengths.get('tokenizer.ggml.tokens')).toBe(2);
    expect(tensors).toEqual([{ name: 'w', shape: [4, 2], type: 'F32', start: whole.length - 32 }]);
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
    writeFileSync(file, tinyGguf({ entries: without('bert.pooling_type') }));
    const own = { pooling: 'last', poolingType: undefined, causal: true };
    for (const asked of ['model', 'last'] as const) expect(await readEmbeddingModel(file, asked)).toMatchObject(own);
    expect(await readEmbeddingModel(file, 'mean')).toMatchObject({ pooling: 'mean', poolingType: 1, causal: false });
    expect(await poolingsOf(file)).toEqual(['last', 'mean']);
    writeFileSync(file, tinyGguf({ entries: withEntry('bert.pooling_type', 4, 2) }));
    expect(await readEmbeddingModel(file)).toMatchObject({ pooling: 'cls', poolingType: undefined });
    expect(await readEmbeddingModel(file, 'last')).toMatchObject({ pooling: 'last', poolingType: 3, causal: false });
    expect(await poolingsOf(file)).toEqual(['cls', 'last', 'mean']);
    writeFileSync(file, tinyGguf({ entries: withEntry('bert.pooling_type', 4, 4) }));
    await expect(readEmbeddingModel(file, 'mean')).rejects.toThrow(/reranker/);
    expect(await poolingsOf(file)).toEqual([]);
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
  ])('%s is refused before anything is loaded', async (_name, content, message) => {
    await expect(read(content)).rejects.toThrow(message);
  });
});
