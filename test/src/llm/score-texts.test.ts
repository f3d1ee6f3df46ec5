import { expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import type { Decision } from '../../../src/llm/decision.js';
import { openLlamaModel } from '../../../src/llm/llama-model.js';

const stories = join(env.KGWALK_TEST_DATA ?? 'nowhere', 'models', 'stories260K.f32.gguf');
const withModel = existsSync(stories) ? test : test.skip;
const request = { head: 'Lily had a ball.', body: '\nThe ball was', decision: {} as Decision, meant: [] };

withModel('texts score the same in any list, and shared beginnings are evaluated once', async () => {
  const model = await openLlamaModel(stories);
  const texts = [' red', ' red and big', ' red and blue', ' zyx'];
  const together = await model.scoreTexts!(request, texts);
  for (const [i, text] of texts.entries()) {
    const alone = await model.scoreTexts!(request, [text]);
    expect(together.logProbs[i]).toBeCloseTo(alone.logProbs[0]!, 3);
    expect(together.tokens[i]).toBe(alone.tokens[0]);
  }
  expect(together.logProbs[0]).toBeGreaterThan(together.logProbs[1]!);
  expect(together.logProbs[0]).toBeGreaterThan(together.logProbs[3]!);
  await model.dispose();
});

withModel('every text counts whole, and shared beginnings are reported as cached', async () => {
  const model = await openLlamaModel(stories);
  const alone = await model.scoreTexts!(request, [' red and big']);
  const usage = async (...texts: string[]) => (await model.scoreTexts!(request, texts)).usage;
  const [once, apart, alike] = [
    await usage(' red and big'),
    await usage(' red and big', ' zyx'),
    await usage(' red and big', ' red and blue'),
  ];
  const { tokens } = await model.scoreTexts!(request, [' zyx', ' red and blue', ' red and']);
  expect(apart).toEqual({ ...once, promptTokens: once.promptTokens + tokens[0]! });
  expect(alike).toEqual({
    promptTokens: once.promptTokens + tokens[1]!,
    cachedTokens: once.cachedTokens + tokens[2]!,
    completionTokens: 0,
  });
  expect(alone.usage.promptTokens).toBe(once.promptTokens);
  await model.dispose();
});
