import { expect, test, describe } from '@jest/globals';
import { copiesExample } from '../../evaluation/watch-decisions.js';
import * as sample from '../fixtures/sample-decisions.js';
import {
  chainsDecision,
  judgeDecision,
  pathsDecision,
  rewriteDecision,
  scoreDecision,
} from '../fixtures/sample-decisions.js';
import { checkExamples } from '../fixtures/check-examples.js';

const score = (count: number) =>
  sample.scoreDecision({
    candidates: sample.candidates(...Array.from({ length: count }, (_, i) => `c${i}`)),
    examples: [{ question: 'which', candidates: ['a', 'b', 'c', 'd'], reply: { scores: [10, 0, 1, 0] } }],
  });

test.each([
  [[10, 0, 1, 0], true],
  [[10, 0, 1], true],
  [[10, 0, 1, 0, 7, 7], true],
  [[10, 0, 10], false],
  [[10], undefined],
])('scores %j begin as those of the example: %s', (scores, copied) => {
  expect(copiesExample(score(scores.length), { scores })).toBe(copied);
});

test('a choice counts where the example’s could be made, among three or more', () => {
  const examples = [{ question: 'which', candidates: ['a', 'b', 'c'], reply: { choice: 2 } }];
  const choose = sample.chooseOneDecision({ examples });
  expect(copiesExample(choose, { choice: 2 })).toBe(true);
  expect(copiesExample(choose, { choice: 0 })).toBe(false);
  expect(copiesExample({ ...choose, candidates: choose.candidates.slice(0, 2) }, { choice: 0 })).toBeUndefined();
  expect(copiesExample(sample.chooseOneDecision(), { choice: 0 })).toBeUndefined();
});

test('chains that the grammar forbids cannot be copied, an answer can, a statement’s truth says nothing', () => {
  const chains = (reply: number[][]) =>
    sample.chainsDecision({ examples: [{ question: 'which', reply: { chains: reply } }] });
  expect(copiesExample(chains([[7, 7]]), { chains: [[1, 2]] })).toBeUndefined();
  expect(copiesExample(chains([[1, 2]]), { chains: [[1, 2]] })).toBe(true);
  const answer = sample.answerDecision({ examples: [{ question: 'who', reply: { answers: ['Ivo Marr'] } }] });
  expect(copiesExample(answer, { answers: ['Ivo Marr'] })).toBe(true);
  expect(copiesExample({ ...answer, form: 'truth' }, { answers: ['Ivo Marr'] })).toBeUndefined();
});

describe('examples of a prompt', () => {
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
      checkExamples(
        judgeDecision({ examples: [{ question: 'q', reply: { choice: 0, reason: 'r', answers: ['x'] } }] }),
      ),
    ).toHaveLength(1);
  });
});
