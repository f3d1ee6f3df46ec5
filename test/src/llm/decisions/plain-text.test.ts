import { describe, expect, test } from '@jest/globals';
import { byLikelihood, textQueries } from '../../../../src/llm/decisions/likelihood/by-likelihood.js';
import { plainBody, plainSolved } from '../../../../src/llm/decisions/likelihood/plain-text.js';
import { chooseOneDecision, matchDecision } from '../../../fixtures/sample-decisions.js';

const asked = (question: string, topic: string) =>
  plainBody('relation', { question, context: [{ label: 'Path', lines: [topic] }] }).body;

describe('in a question as plain text the topic', () => {
  test.each([
    ['who directed Heat', 'Heat', 'who directed it? ='],
    ['who directed [heat]?', 'Heat', 'who directed it? ='],
    ['which films of Lana Wachowski, and Lilly', 'Lana Wachowski, Lilly', 'which films of it, and it? ='],
    ['who directed I, Robot', 'I, Robot', 'who directed it? ='],
    ['what are the other films of Her', 'Her', 'what are the other films of it? ='],
    ['which others made Heat after Heat', 'Heat', 'which others made it after Heat? ='],
    ['İİİ who directed Heat', 'Heat', 'İİİ who directed it? ='],
    ['who made What? (again)', 'What? (again)', 'who made it? ='],
    ['is New York in York', 'York, New York', 'is it in it? ='],
    ['谁导演了英雄', '英雄', '谁导演了it? ='],
  ])('of %s is one word', (question, topic, body) => {
    expect(asked(question, topic)).toBe(`\n${body}`);
  });

  test('goes from solved questions as well, each topic once', () => {
    expect(plainSolved('did Ann meet Annabel', ['Ann', 'Annabel'], ['met'])).toBe('did it meet it? = met');
  });
});

test('paths with hundreds of equal characters differ by their ends', () => {
  const steps = Array.from({ length: 12 }, (_, i) => `${'Harbour of the northern isles '.repeat(2)}${i}`);
  const texts = ['Vell', 'Orrel'].map((end) => [...steps, end].join(' → '));
  const decision = chooseOneDecision({
    candidates: texts.map((text) => ({ kind: 'path', triples: [], text })),
    allowNone: false,
  });
  expect(textQueries(decision)![0]!.texts).toEqual(texts);
});

test('a match over more candidates than a call has arguments is taken', async () => {
  const many = Array.from({ length: 130_000 }, (_, i) => ({ kind: 'text' as const, text: `name ${i}` }));
  const decision = matchDecision({ candidates: many, targets: ['ships'] });
  const { reply } = await byLikelihood(decision, ({ texts }) =>
    Promise.resolve(Float64Array.from(texts, (_, i) => (i === 7 ? 3 : -3))),
  );
  expect(reply!.matches).toMatchObject([{ candidate: 7, target: 0 }]);
});
