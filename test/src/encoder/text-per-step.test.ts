import { expect, test } from '@jest/globals';
import { useEncoders } from '../../fixtures/open-encoders.js';
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
