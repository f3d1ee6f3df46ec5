import { expect, test } from '@jest/globals';
import { checkExamples } from '../../../../src/llm/decisions/check-examples.js';
import { summarizeReply } from '../../../../src/llm/decisions/write-reply.js';
import { chainsDecision, judgeDecision, matchDecision, scoreDecision } from '../../../fixtures/sample-decisions.js';

test('B-TOG-1: an example whose reply the parser reads as itself is right', () => {
  expect(
    checkExamples(scoreDecision({ examples: [{ question: 'q', candidates: ['a', 'b'], reply: { scores: [3, 0] } }] })),
  ).toEqual([]);
  expect(checkExamples(chainsDecision({ examples: [{ question: 'q', reply: { chains: [[0, 3, 5]] } }] }))).toEqual([]);
});

test('B-TOG-1: an example whose reply the parser reads otherwise is found', () => {
  expect(
    checkExamples(scoreDecision({ examples: [{ question: 'q', candidates: ['a', 'b'], reply: { scores: [3] } }] })),
  ).toEqual(['expected example 1 of test to be read as it was written, got nothing, at {"scores":[3]}']);
  expect(
    checkExamples(judgeDecision({ examples: [{ question: 'q', reply: { choice: 0, reason: 'r', answers: ['x'] } }] })),
  ).toHaveLength(1);
});

test('a reply has a line for people', () => {
  expect(summarizeReply(scoreDecision(), { scores: [1, 2, 3] })).toBe('owns: 1; built: 2; ~built: 3');
  expect(summarizeReply(matchDecision(), { matches: [{ candidate: 1, target: 0, score: 9 }] })).toBe(
    'built ~ owner: 9',
  );
  expect(summarizeReply(chainsDecision(), { chains: [[1, 2]] })).toBe('~owns → built');
  expect(summarizeReply(judgeDecision(), { choice: -1, reason: 'too few', answers: [] })).toBe('not enough · too few');
});
