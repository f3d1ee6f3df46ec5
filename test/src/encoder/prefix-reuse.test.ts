import { expect, test } from '@jest/globals';
import { dot } from '../../../src/encoder/state-encoder.js';
import { rowsOf, useEncoders } from '../../fixtures/open-encoders.js';
import { tinyLlama } from '../../fixtures/tiny-llama.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const { path } = await tinyLlama();
const opened = useEncoders();
const open = (settings: object = {}, folder?: string) => opened(path, { prefixReuse: 'auto', ...settings }, folder);

const begin = 'The film The Winter Sea was directed by Mara Lind. Who wrote it? Reply with names, nothing else. ';
const dialogues = ['She asked for a song of the north.', 'He reads old letters.', 'They walk to the house of stone.'];
/** States of three dialogues, out of order: what was said first, then where the walk stands. */
const states = [7, 2, 5, 0, 8, 3, 6, 1, 4].map(
  (i) => `${begin}${dialogues[i % 3]} Now at ${'node '.repeat(1 + (i % 4))}${i}`,
);

test('vectors are bit for bit those of each text alone, in any order and on any number of lanes', async () => {
  const together = await open();
  const expected = rowsOf(await together.encode(states));
  // Of each dialogue at least one.
  for (const [i, text] of states.slice(0, 4).entries()) {
    const alone = await open();
    expect(rowsOf(await alone.encode([text]))[0]).toEqual(expected[i]);
    expect(alone.counters.reusedTokens).toBe(0);
  }
  const lanes = await open({ workers: 3 });
  expect(rowsOf(await lanes.encode(states.toReversed())).toReversed()).toEqual(expected);
  const bit = await open();
  for (const half of [states.slice(0, 4), states.slice(4)]) await bit.encode(half);
  expect(rowsOf(await bit.encode(states))).toEqual(expected);
});

test('what texts begin with is evaluated once', async () => {
  const [off, auto] = [await open({ prefixReuse: 'off' }), await open()];
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
  const [off, auto] = [await open({ prefixReuse: 'off' }, folder), await open({}, folder)];
  const [one, other] = [rowsOf(await off.encode(states)), rowsOf(await auto.encode(states))];
  for (const [i, vector] of one.entries()) expect(dot(vector, other[i]!)).toBeGreaterThan(0.9999);
  expect(auto.id).not.toBe(off.id);
  expect(auto.counters).toMatchObject({ encodes: states.length, cacheHits: 0 });
});

test('a stop between two texts leaves lanes that still give the right vectors', async () => {
  const expected = rowsOf(await (await open()).encode(states));
  const encoder = await open();
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
