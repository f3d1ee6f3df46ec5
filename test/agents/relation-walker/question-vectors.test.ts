import { expect, test } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  encodeQuestions,
  questionText,
  readScale,
  scaledVectors,
  unitScale,
  vectorScale,
  writeScale,
} from '../../../agents/relation-walker/question-vectors.js';
import { relationWalkerSettings } from '../../../agents/relation-walker/settings.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { filmGraph, filmQuestions } from '../../fixtures/toy-questions.js';

const tasks = filmQuestions(filmGraph()).map(({ task }) => task);
const settings = relationWalkerSettings.parse({});

test('a question is read with [E] for its topic, or as it is', () => {
  expect(questionText(tasks[2]!, false)).toBe('films by the director of [E]');
  expect(questionText(tasks[2]!, true)).toBe('films by the director of tenet');
});

test('questions of one template are encoded once and share a row', async () => {
  const encoder = hashedEncoder(16);
  const encoded = await encodeQuestions(encoder, tasks, { settings });
  expect(encoder.counters.encodes).toBe(4);
  const { rowOf } = scaledVectors(tasks, encoded, unitScale(16));
  expect(rowOf.get('1-0')).toBe(rowOf.get('1-1'));
  expect(rowOf.get('1-0')).not.toBe(rowOf.get('2-0'));
});

test('B-LIZ-1: vectors are scaled by mean and deviation over questions, not over texts', () => {
  // Two texts, the first asked three times: means 0.25 and 5, deviations √3/4 and none.
  const encoded = { matrix: Float32Array.of(0, 5, 1, 5), rows: Int32Array.of(0, 0, 0, 1), dim: 2 };
  const scale = vectorScale(encoded);
  expect([...scale.mean]).toEqual([0.25, 5]);
  expect([...scale.deviation]).toEqual([Math.fround(Math.sqrt(3) / 4), 1]);
  const four = tasks.slice(0, 4);
  const { matrix } = scaledVectors(four, encoded, scale);
  expect([...matrix].map((value) => Number(value.toFixed(4)))).toEqual([-0.5774, 0, 1.7321, 0]);
  expect(() => vectorScale({ ...encoded, rows: new Int32Array(0) })).toThrow(/expected train questions/);
});

test('the scale comes back from the run’s folder as it was', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-scale-'));
  expect(readScale(folder)).toBeUndefined();
  const scale = { mean: Float32Array.of(0.5, -1), deviation: Float32Array.of(2, 1) };
  writeScale(folder, scale);
  expect(readScale(folder)).toEqual(scale);
  writeFileSync(join(folder, 'embeddings', 'question-scale.safetensors'), 'broken');
  expect(() => readScale(folder)).toThrow();
});
