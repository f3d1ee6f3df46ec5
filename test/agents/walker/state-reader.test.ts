import { expect, test } from '@jest/globals';
import type { StateRequest } from '../../../agents/walker/features/featurizer.js';
import { StateReader } from '../../../agents/walker/policy.js';
import { stateTextSettings } from '../../../envs/settings.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { graphOf } from '../../fixtures/toy-walks.js';
import { laterSample, reachableStates } from '../../fixtures/toy-walker.js';

const graph = graphOf('films', [
  ['heat', 'directed_by', 'mann'],
  ['heat', 'genre', 'crime'],
  ['mann', '~directed_by', 'heat'],
  ['mann', '~directed_by', 'ali'],
]);
const samples = ['what else', 'who made it'].map((text, i) =>
  laterSample(graph, `d${i}`, `d${i}`, ['I like heat a lot', 'so do I', text], [], [['heat', 'directed_by', 'mann']]),
);
const statesOf = (): StateRequest[] => reachableStates({ graph, samples });
const settings = (changes = {}) => stateTextSettings.parse({ encode: 'per-step', ...changes });

test('gives each state the vector of its text', async () => {
  const encoder = hashedEncoder(32);
  const reader = new StateReader(encoder, graph, settings());
  const states = statesOf();
  await reader.read(states);
  const texts = await reader.texts(states);
  const { matrix, rows } = await hashedEncoder(32).encode(texts);
  states.forEach(({ vector }, i) => {
    expect([...vector!]).toEqual([...matrix.subarray(32 * rows[i]!, 32 * rows[i]! + 32)]);
  });
  expect(new Set(texts).size).toBe(states.length);
});

test('B-ARK-17: encodes distinct states once, and nothing that has its vector', async () => {
  const encoder = hashedEncoder(32);
  const reader = new StateReader(encoder, graph, settings());
  const [first] = statesOf();
  const copies = Array.from({ length: 8 }, () => ({ ...first! }));
  await reader.read(copies);
  expect(encoder.counters).toMatchObject({ encodes: 1, requests: 8 });
  await reader.read(copies);
  expect(encoder.counters).toMatchObject({ encodes: 1, requests: 8 });
});

test('trims every state of a task alike, by the encoder’s own tokens', async () => {
  const reader = new StateReader(hashedEncoder(32), graph, settings({ maxTokens: 80, walkTokens: 20 }));
  const texts = await reader.texts(statesOf());
  for (const text of texts) {
    expect(text).not.toContain('I like heat a lot');
    expect(text).toMatch(/what else|who made it/);
  }
  const whole = await new StateReader(hashedEncoder(32), graph, settings()).texts(statesOf());
  for (const text of whole) expect(text).toContain('I like heat a lot');
});

test('ends once it is stopped', async () => {
  const reader = new StateReader(hashedEncoder(32), graph, settings(), AbortSignal.abort());
  await expect(reader.read(statesOf())).rejects.toMatchObject({ code: 'stopped' });
});
