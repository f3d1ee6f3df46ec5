import { expect, test } from '@jest/globals';
import { answerSections } from '../../../tasks/answer-frame.js';
import { originsOf } from '../../../tasks/questions/show.js';

test('an answer comes by the shortest walk over the facts of the evidence, either way along a fact', () => {
  const origins = originsOf(
    ['Tenet'],
    [
      ['Tenet', 'directed_by', 'Nolan'],
      ['Nolan', '~directed_by', 'Dunkirk'],
      ['Inception', 'directed_by', 'Nolan'],
      ['Dunkirk', 'has_genre', 'war'],
      ['Alien', 'directed_by', 'Scott'],
    ],
  );
  expect(origins.get('Dunkirk')).toBe('Tenet —directed_by→ Nolan —~directed_by→ Dunkirk');
  expect(origins.get('Inception')).toBe('Tenet —directed_by→ Nolan —~directed_by→ Inception');
  expect(origins.get('war')).toBe('Tenet —directed_by→ Nolan —~directed_by→ Dunkirk —has_genre→ war');
  expect(origins.has('Scott')).toBe(false);
});

test('the frame of an answer numbers where each answer is from, leaves out what has no origin, and says when there is none', () => {
  const which = { name: 'tog', switches: {} };
  const frame = { question: 'who?', topics: ['a', 'b'], none: 'no answer', over: 'graph g of d' };
  const answers = [{ cells: { answer: 'x' } }, { cells: { answer: 'y' }, from: 'a —r→ y' }];
  expect(answerSections({ ...frame, answers }, which)).toEqual([
    { title: '', lines: ['question: who?', 'topic: a; b'] },
    {
      title: '',
      rows: [
        { rank: 1, answer: 'x' },
        { rank: 2, answer: 'y' },
      ],
      lines: [],
    },
    { title: 'where from', lines: ['   2  a —r→ y'] },
    { title: '', lines: ['answered by agent tog, graph g of d'] },
  ]);
  expect(answerSections({ ...frame, topics: [], answers: [] }, which)).toMatchObject([
    { lines: ['question: who?', 'topic: none given'] },
    { lines: ['no answer'] },
    {},
  ]);
});
