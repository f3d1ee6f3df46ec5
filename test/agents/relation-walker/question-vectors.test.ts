import { expect, test } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  questionText,
  readScale,
  ScaledTexts,
  vectorScale,
  writeScale,
} from '../../../agents/relation-walker/question-vectors.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { filmGraph, filmQuestions } from '../../fixtures/toy-questions.js';

const tasks = filmQuestions(filmGraph()).map(({ task }) => task);

test('a question is read with [E] for its topic, or as it is', () => {
  expect(questionText(tasks[2]!, false)).toBe('films by the director of [E]');
  expect(questionText(tasks[2]!, true)).toBe('films by the director of tenet');
});

test('B-LIZ-1: vectors are scaled by mean and deviation over questions, not over texts', () => {
  // Two texts, the first asked three times: means 0.25 and 5, deviations √3/4 and none.
  const encoded = { matrix: Float32Array.of(0, 5, 1, 5), rows: Int32Array.of(0, 0, 0, 1), dim: 2 };
  const scale = vectorScale(encoded);
  expect([...scale.mean]).toEqual([0.25, 5]);
  expect([...scale.deviation]).toEqual([Math.fround(Math.sqrt(3) / 4), 1]);
  const texts = new ScaledTexts({ ...hashedEncoder(8), dim: 2 }, scale, 128);
  texts.keep(['a', 'a', 'a', 'b'], encoded);
  expect([...texts.matrix(['a', 'b'])].map((value) => Number(value.toFixed(4)))).toEqual([-0.5774, 0, 1.7321, 0]);
  expect(() => vectorScale({ ...encoded, rows: new Int32Array(0) })).toThrow(/expected train questions/);
});

test('the scale comes back from the run’s folder as it was', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-scale-'));
  expect(() => readScale(folder)).toThrow(/expected the scale of question vectors, got none/);
  const scale = { mean: Float32Array.of(0.5, -1), deviation: Float32Array.of(2, 1) };
  writeScale(folder, scale);
  expect(readScale(folder)).toEqual(scale);
  writeFileSync(join(folder, 'embeddings', 'question-scale.safetensors'), 'broken');
  expect(() => readScale(folder)).toThrow();
});
