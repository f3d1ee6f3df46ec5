import { expect, test } from '@jest/globals';
import { pageEncoder, textKey } from '../../export/page/texts.js';
import { hashedEncoder } from '../../src/encoder/hashed-encoder.js';

const texts = ['who directed [E]', ' ', 'when was it released'];

test('hashed vectors are computed in the page as elsewhere', async () => {
  const page = pageEncoder({ name: 'hashed:32', dim: 32, normalize: true, known: new Map() });
  expect(await page.encode(texts, { maxTokens: 2 })).toEqual(await hashedEncoder(32).encode(texts, { maxTokens: 2 }));
});

test('known vectors are those of a text under its budget; blank texts are zeros, others refused', async () => {
  const known = new Map([
    [textKey('one', 8), Float32Array.of(1, 2)],
    [textKey('one'), Float32Array.of(3, 4)],
  ]);
  const page = pageEncoder({ name: 'sentences.gguf', dim: 2, normalize: true, known });
  const { matrix, rows } = await page.encode(['', 'one', 'one'], { maxTokens: 8 });
  expect([[...matrix], [...rows]]).toEqual([
    [0, 0, 1, 2],
    [0, 1, 1],
  ]);
  expect([...(await page.encode(['one'])).matrix]).toEqual([3, 4]);
  await expect(page.encode(['two'])).rejects.toMatchObject({ code: 'usage', hint: expect.stringContaining('example') });
});
