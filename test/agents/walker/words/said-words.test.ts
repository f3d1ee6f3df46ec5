import { expect, test } from '@jest/globals';
import { WordReader } from '../../../../agents/walker/words/said-words.js';
import { graphOf, sampleOf } from '../../../fixtures/toy-walks.js';

const graph = graphOf('one edge', [['here', 'to', 'there']]);
const tasks = ['red green', 'green blue', 'blue', 'red'].map(
  (said) => sampleOf(graph, said, said, 'here', [['here', 'to', 'there']]).task,
);
const vocabulary = ['red', 'green', 'blue'];

test('a reader keeps no more texts than it may, and reads those that it forgot as before', () => {
  const [small, large] = [new WordReader(vocabulary, 2), new WordReader(vocabulary)];
  for (const task of [...tasks, ...tasks]) {
    expect(small.of([task])).toEqual(large.of([task]));
    expect(small.kept).toBeLessThanOrEqual(2);
  }
  expect(small.of(tasks)).toEqual(large.of(tasks));
  expect(large.kept).toBe(tasks.length);
});
