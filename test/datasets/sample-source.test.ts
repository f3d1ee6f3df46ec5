import { expect, test } from '@jest/globals';
import type { QuestionSample } from '../../datasets/question.js';
import { plainText, sampleContent } from '../../datasets/sample-source.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { filmGraph, filmQuestions } from '../fixtures/toy-questions.js';
import { toyTwoHop } from '../fixtures/toy-walks.js';

const [walk] = toyTwoHop().samples;
const [question] = filmQuestions(filmGraph());

const walkWith = (task: Partial<WalkSample['task']>, gold: Partial<WalkSample['gold']> = {}) =>
  sampleContent({ task: { ...walk!.task, ...task }, gold: { ...walk!.gold, ...gold } });
const questionWith = (task: Partial<QuestionSample['task']>, gold: Partial<QuestionSample['gold']> = {}) =>
  sampleContent({ task: { ...question!.task, ...task }, gold: { ...question!.gold, ...gold } });

test('texts are equal without case, punctuation and ways of writing a letter', () => {
  expect(plainText('  Who\u2019s  “Zoe\u0308”?\n')).toBe(plainText('who s ZO\u00cb'));
  expect(plainText('你好！')).toBe('你好');
});

test('dialogues are equal by words, start and gold, independent of id and speaker names', () => {
  const same = { id: 'other', dialogueId: 'other', sender: 'user' as const };
  const text = walk!.task.messages[0]!.text;
  expect(walkWith({ ...same, messages: [{ sender: 'user', text: ` ${text.toUpperCase()} !` }] })).toBe(walkWith({}));
  expect(walkWith({ startName: 'elsewhere' })).not.toBe(walkWith({}));
  expect(walkWith({ messages: [...walk!.task.messages, { sender: 'user', text: 'and?' }] })).not.toBe(walkWith({}));
  expect(walkWith({}, { path: [] })).not.toBe(walkWith({}));
});

test('a question is the same by its words, topics and answers in any order', () => {
  const [answer] = question!.gold.answers;
  const two = [answer!, { name: 'a', entity: 0 }];
  expect(questionWith({ id: 'other' }, { answers: two })).toBe(questionWith({}, { answers: [...two].reverse() }));
  expect(questionWith({}, { answers: two })).not.toBe(questionWith({}));
  expect(questionWith({ topics: [] })).not.toBe(questionWith({}));
  expect(questionWith({}, { truth: true })).not.toBe(questionWith({}, { truth: false }));
});
