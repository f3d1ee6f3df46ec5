import { expect, test } from '@jest/globals';
import { checkExamples } from '../../../fixtures/check-examples.js';
import {
  chainsDecision,
  judgeDecision,
  pathsDecision,
  rewriteDecision,
  scoreDecision,
} from '../../../fixtures/sample-decisions.js';

const paths = ['Skarn → ~born_on → Ida Moss', 'Skarn → ~born_on → Ivo Marr → built → Heron'];

test.each([
  scoreDecision({ examples: [{ question: 'q', candidates: ['a', 'b'], reply: { scores: [3, 0] } }] }),
  chainsDecision({ examples: [{ question: 'q', reply: { chains: [[0, 3, 5]] } }] }),
  rewriteDecision({ examples: [{ question: 'q', reply: { texts: ['a', 'b'] } }] }),
  pathsDecision({ examples: [{ question: 'q', candidates: paths, reply: { paths: [1] } }] }),
])('B-TOG-1: an example whose reply the parser reads as itself is right: $kind', (decision) => {
  expect(checkExamples(decision)).toEqual([]);
});

test('B-TOG-1: an example whose reply the parser reads otherwise is found', () => {
  expect(
    checkExamples(scoreDecision({ examples: [{ question: 'q', candidates: ['a', 'b'], reply: { scores: [3] } }] })),
  ).toEqual(['expected example 1 of test to be read as it was written, got nothing, at {"scores":[3]}']);
  expect(
    checkExamples(judgeDecision({ examples: [{ question: 'q', reply: { choice: 0, reason: 'r', answers: ['x'] } }] })),
  ).toHaveLength(1);
});
