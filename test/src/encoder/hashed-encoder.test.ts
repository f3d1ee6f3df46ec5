import { expect, test } from '@jest/globals';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { openEncoder } from '../../../src/encoder/open-encoder.js';
import { encoderSettings } from '../../../src/encoder/settings.js';
import { dot } from '../../../src/encoder/state-encoder.js';
import { rowsOf } from '../../fixtures/open-encoders.js';

const vectorsOf = async (dim: number, ...texts: string[]) => rowsOf(await hashedEncoder(dim).encode(texts));

test('B-ARK-17: duplicates share a row and are encoded once', async () => {
  const encoder = hashedEncoder(32);
  const encoded = await encoder.encode(['one', 'two', 'one', '', '  ']);
  expect([...encoded.rows]).toEqual([0, 1, 0, 2, 3]);
  expect(encoded.matrix).toHaveLength(4 * 32);
  expect(encoder.counters).toMatchObject({ requests: 5, encodes: 2, cacheHits: 0, tokens: 2 });
});

test('vectors have length 1, blank texts are zero', async () => {
  const vectors = await vectorsOf(64, 'The Matrix (1999)', 'x', '');
  [1, 1, 0].forEach((length, i) => expect(dot(vectors[i]!, vectors[i]!)).toBeCloseTo(length, 6));
});

test('a vector depends on its text alone', async () => {
  const [, beta, alpha] = await vectorsOf(64, 'gamma', 'beta', 'alpha');
  expect(await vectorsOf(64, 'alpha', 'beta')).toEqual([alpha, beta]);
});

test('similar spellings are nearer than different ones', async () => {
  const texts = ['Christopher Nolan', 'directed by christopher nolan', 'a bowl of rice'];
  const [name, near, far] = await vectorsOf(256, ...texts);
  expect(dot(name!, near!)).toBeGreaterThan(0.5);
  expect(Math.abs(dot(name!, far!))).toBeLessThan(0.2);
});

test('B-ARK-8: a token budget keeps the last words', async () => {
  const encoder = hashedEncoder(64);
  const cut = await encoder.encode(['old words who directed it'], { maxTokens: 3 });
  const short = await encoder.encode(['who directed it']);
  expect(cut.matrix).toEqual(short.matrix);
});

test('hashed:DIM opens it, and a bad DIM or no model is a config error', async () => {
  const settings = encoderSettings.parse({});
  const cacheFolder = 'unused';
  expect((await openEncoder(settings, { modelPath: 'hashed:16', cacheFolder })).id).toBe('hashed:16:l2:v1');
  await expect(openEncoder(settings, { modelPath: 'hashed:many', cacheFolder })).rejects.toMatchObject({
    code: 'config',
  });
  await expect(openEncoder(settings, { cacheFolder })).rejects.toThrow(/expected a text encoder, got none/);
});
