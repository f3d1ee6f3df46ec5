import { describe, expect, test } from '@jest/globals';
import type { AnswerDecision, Decision, PathsDecision } from '../../../../src/llm/decision.js';
import { fitToContext, uncutReply } from '../../../../src/llm/decisions/fit-to-context.js';
import { renderPrompt } from '../../../../src/llm/decisions/render-prompt.js';
import { answerDecision, candidates, pathsDecision, scoreDecision } from '../../../fixtures/sample-decisions.js';

const words = (text: string) => text.split(/\s+/).length;

const full = scoreDecision({
  context: [
    { label: 'Step', lines: ['second step'] },
    { label: 'Earlier', lines: ['oldest line', 'middle line', 'youngest line'], role: 'history' },
  ],
  examples: ['one', 'two'].map((question) => ({ question, candidates: ['a'], reply: { scores: [1] } })),
  evidence: [
    ['a', 'r', 'b'],
    ['c', 'r', 'd'],
  ],
  candidates: candidates('first', 'second', 'third'),
});

function sizeOf(decision: Decision): number {
  const { system, head, body } = renderPrompt(decision);
  return words(`${system}\n${head}${body}`);
}

function fitted(maxPromptTokens: number) {
  let counts = 0;
  const countTokens = (text: string) => {
    counts++;
    return words(text);
  };
  return { ...fitToContext(full, { maxPromptTokens, countTokens }), counts };
}

describe('a prompt that does not fit', () => {
  const whole = sizeOf(full);

  test('is left as it is while it fits', () => {
    expect(fitted(whole)).toEqual({
      decision: full,
      dropped: { history: 0, examples: 0, evidence: 0, candidates: 0 },
      counts: 1,
    });
  });

  test('gives up the oldest history first', () => {
    const { decision, dropped } = fitted(whole - 1);
    expect(dropped).toEqual({ history: 1, examples: 0, evidence: 0, candidates: 0 });
    expect(decision.context).toEqual([
      { label: 'Step', lines: ['second step'] },
      { label: 'Earlier', lines: ['middle line', 'youngest line'], role: 'history' },
    ]);
  });

  test('gives up examples, facts and candidates next, each from its end, and never more than it must', () => {
    const seen: string[] = [];
    for (let limit = whole; ; limit--) {
      try {
        const { decision, dropped, counts } = fitted(limit);
        expect(sizeOf(decision)).toBeLessThanOrEqual(limit);
        expect(counts).toBeLessThan(12);
        expect(decision.question).toBe(full.question);
        seen.push(Object.values(dropped).join(' '));
      } catch (error) {
        expect(error).toMatchObject({ code: 'data' });
        break;
      }
    }
    expect([...new Set(seen)]).toEqual([
      '0 0 0 0',
      '1 0 0 0',
      '2 0 0 0',
      '3 0 0 0',
      '3 1 0 0',
      '3 2 0 0',
      '3 2 1 0',
      '3 2 2 0',
      '3 2 2 1',
      '3 2 2 2',
    ]);
  });

  test('keeps the first candidates, whose numbers stay the same, and those it never showed score 0', () => {
    const least = sizeOf({
      ...full,
      context: [full.context![0]!],
      examples: [],
      evidence: [],
      candidates: candidates('first', 'second'),
    });
    const { decision } = fitted(least);
    expect(decision.candidates.map(({ text }) => text)).toEqual(['first', 'second']);
    expect(uncutReply(full, { scores: [3, 4] })).toEqual({ scores: [3, 4, 0] });
  });

  test('gives up allowed answers and paths like candidates', () => {
    for (const decision of [
      answerDecision({ allowed: ['Heron', 'Gull', 'Tern'], evidence: [] }),
      pathsDecision({ evidence: [] }),
    ]) {
      const limits = { maxPromptTokens: sizeOf(decision) - 1, countTokens: words };
      const { dropped, decision: cut } = fitToContext<AnswerDecision | PathsDecision>(decision, limits);
      expect([dropped.candidates, cut.allowed]).toEqual([1, decision.allowed!.slice(0, -1)]);
    }
  });

  test('is refused, with the question named, where question and one candidate do not fit', () => {
    expect(() => fitted(10)).toThrow(/expected a prompt of at most 10 tokens, got \d+ .* at question q1 \(test\)/);
  });
});
