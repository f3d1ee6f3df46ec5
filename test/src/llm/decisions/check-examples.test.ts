import { expect, test } from '@jest/globals';
import { checkExamples } from '../../../fixtures/check-examples.js';
import { chainsDecision, judgeDecision, scoreDecision } from '../../../fixtures/sample-decisions.js';

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
