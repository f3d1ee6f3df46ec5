import { expect, test } from '@jest/globals';
import { recurringContexts } from '../../bench/annotators/recurring-contexts.js';
import type { Message } from '../../datasets/dialogue.js';
import { namedWalk, sampleOf } from '../agents/baselines/toy-world.js';

const director = namedWalk('Heat', 'directed_by', 'Mann');
const asked = (id: string, said: string[], path = director) =>
  sampleOf(id, path, {
    dialogueId: id.replace(/#.*/, ''),
    messages: said.map((text, i): Message => ({ sender: i % 2 === 0 ? 'user' : 'assistant', text })),
  });
const idsOf = (groups: ReturnType<typeof recurringContexts>) => groups.map((group) => group.map(({ task }) => task.id));

test('contexts recur if two dialogues have equal messages, ignoring case and punctuation, and the same start', () => {
  const samples = [
    asked('a#1', ['Do you know “Heat”?']),
    asked('b#1', ['do you know  heat (1995)']),
    asked('c#1', ['Do you know Heat?'], namedWalk('Ali', 'directed_by', 'Mann')),
    asked('d#1', ['Do you know Ali?']),
  ];
  expect(idsOf(recurringContexts(samples))).toEqual([['a#1', 'b#1']]);
});

test('a dialogue that repeats itself is no second annotator', () => {
  const samples = [asked('a#1', ['Heat?']), asked('a#2', ['Heat?'])];
  expect(recurringContexts(samples)).toEqual([]);
  expect(idsOf(recurringContexts([...samples, asked('b#1', ['Heat'])]))).toEqual([['a#1', 'a#2', 'b#1']]);
});

test('the softer key reads the last message alone; golds that the graph lacks are left out', () => {
  const samples = [asked('a#1', ['Hello.', 'Heat?']), asked('b#1', ['Good day.', 'Heat?'])];
  expect(recurringContexts(samples)).toEqual([]);
  expect(idsOf(recurringContexts(samples, 'last message'))).toEqual([['a#1', 'b#1']]);
  const lacking = asked('c#1', ['Heat?'], namedWalk('Heat', 'directed_by', 'Unknown'));
  lacking.gold.inGraph = false;
  expect(idsOf(recurringContexts([...samples, lacking], 'last message'))).toEqual([['a#1', 'b#1']]);
});
