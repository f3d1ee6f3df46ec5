import { expect, test } from '@jest/globals';
import { copiesExample } from '../../../../src/llm/decisions/copied-example.js';
import * as sample from '../../../fixtures/sample-decisions.js';

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
