import { describe, expect, test } from '@jest/globals';
import { ScaledTexts } from '../../../../agents/relation-walker/question-vectors.js';
import { hashedEncoder } from '../../../../src/encoder/hashed-encoder.js';

const dim = 8;
const scale = { mean: new Float32Array(dim), deviation: new Float32Array(dim).fill(1) };
const opened = (most?: number) => new ScaledTexts(hashedEncoder(dim, true), scale, 16, most);
const named = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `question ${from + i}`);

describe('scaled texts', () => {
  test('keeps those asked for last, however many questions come', async () => {
    const texts = opened(10);
    for (let i = 0; i < 100; i++) {
      await texts.prepare(named(i, i + 1));
      expect(texts.matrix(named(Math.max(0, i - 9), i + 1)).every(Number.isFinite)).toBe(true);
    }
    expect(texts.kept).toBe(11);
    expect(() => texts.matrix(named(50, 51))).toThrow('expected a prepared text');
    await texts.prepare(named(50, 51));
    expect(texts.matrix(named(50, 51))).toEqual(await firstOf('question 50'));
  });

  test('holds all that are prepared at once, and those that stayed in use while others came', async () => {
    const texts = opened(2);
    await texts.prepare(named(0, 50));
    expect(texts.matrix(named(0, 50)).length).toBe(50 * dim);
    await texts.prepare(['mine']);
    // Another batch comes in while one that knows a part of its texts waits for the rest.
    await Promise.all([
      texts.prepare(['mine', 'new']).then(() => expect(texts.matrix(['mine', 'new']).length).toBe(2 * dim)),
      texts.prepare(named(100, 140)),
    ]);
    expect(texts.kept).toBeLessThanOrEqual(42);
  });
});

async function firstOf(text: string): Promise<Float32Array> {
  const texts = opened();
  await texts.prepare([text]);
  return texts.matrix([text]);
}
