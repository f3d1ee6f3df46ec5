import { expect, test } from '@jest/globals';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { openEncoder } from '../../../src/encoder/open-encoder.js';
import { encoderSettings } from '../../../src/encoder/settings.js';
import type { EncodedTexts } from '../../../src/encoder/state-encoder.js';

const vector = ({ matrix, rows, dim }: EncodedTexts, i: number) =>
  matrix.subarray(rows[i]! * dim, (rows[i]! + 1) * dim);
const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

test('B-ARK-17: duplicates share a row and are encoded once', async () => {
  const encoder = hashedEncoder(32);
  const encoded = await encoder.encode(['one', 'two', 'one', '', '  ']);
  expect([...encoded.rows]).toEqual([0, 1, 0, 2, 3]);
  expect(encoded.matrix).toHaveLength(4 * 32);
  expect(encoder.counters).toMatchObject({ requests: 5, encodes: 2, cacheHits: 0, tokens: 2 });
});

test('vectors have length 1, blank texts are zero', async () => {
  const encoded = await hashedEncoder(64).encode(['The Matrix (1999)', 'x', '']);
  expect(dot(vector(encoded, 0), vector(encoded, 0))).toBeCloseTo(1, 6);
  expect(dot(vector(encoded, 1), vector(encoded, 1))).toBeCloseTo(1, 6);
  expect(vector(encoded, 2).every((value) => value === 0)).toBe(true);
});

test('a vector depends on its text alone', async () => {
  const a = await hashedEncoder(64).encode(['alpha', 'beta']);
  const b = await hashedEncoder(64).encode(['gamma', 'beta', 'alpha']);
  expect(vector(a, 0)).toEqual(vector(b, 2));
  expect(vector(a, 1)).toEqual(vector(b, 1));
});

test('similar spellings are nearer than different ones', async () => {
  const encoded = await hashedEncoder(256).encode([
    'Christopher Nolan',
    'directed by christopher nolan',
    'a bowl of rice',
  ]);
  expect(dot(vector(encoded, 0), vector(encoded, 1))).toBeGreaterThan(0.5);
  expect(Math.abs(dot(vector(encoded, 0), vector(encoded, 2)))).toBeLessThan(0.2);
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
