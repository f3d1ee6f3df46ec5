import { expect, test } from '@jest/globals';
import { askedQuestion } from '../../../datasets/questions/asked-question.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { NameIndex } from '../../../src/kg/name-index.js';

const builder = new GraphBuilder();
const add = builder.sinkOf('made up');
for (const pest of ['Red Mite', 'red', 'What']) add(pest, 'attacks', 'Crop 7');
add('Café Zoë', 'serves', 'New York');
add('New York City', 'lies_in', 'New York');
const graph = builder.build('facts');
const names = new NameIndex(graph, new Map([[graph.entityId('New York City'), ['the Big Apple']]]));
const ask = (text: string) => askedQuestion(text, graph, { names });
const topicsOf = (text: string) => ask(text).task.topics.map(({ name }) => name);

test('brackets say what a question is about, and are no part of it', () => {
  const { task, found } = ask('what attacks [crop 7]?');
  expect(task.question).toBe('what attacks crop 7?');
  expect(task.topics).toEqual([{ name: 'Crop 7', entity: graph.entityId('Crop 7'), span: [13, 19] }]);
  expect(found).toBeUndefined();
});

test('without brackets a name is found, ignoring case, accents and its qualifier', () => {
  expect(ask('what treats the pests of crop 7?')).toMatchObject({
    found: 'crop 7',
    task: { topics: [{ name: 'Crop 7', span: [25, 31] }] },
  });
  expect(topicsOf('who drinks at cafe zoe, and why')).toEqual(['Café Zoë']);
  expect(topicsOf('where lies the big apple')).toEqual(['New York City']);
});

test('the longest name is taken, and little words are none', () => {
  expect(topicsOf('what is in new york city')).toEqual(['New York City']);
  expect(topicsOf('What does the red mite attack?')).toEqual(['Red Mite']);
  expect(topicsOf('what does red attack')).toEqual(['red']);
});

test('of names that are as long the one with a capital is taken; where nothing decides they are listed', () => {
  expect(topicsOf('does a red mite live in New York')).toEqual(['New York']);
  const both = () => ask('does a red mite live in new york');
  expect(both).toThrow('expected one name of the graph, got 2 in "does a red mite live in new york"');
  expect(both).toThrow(expect.objectContaining({ hint: 'Mark one of them: [red mite] or [new york].' }));
});

test('a question without a name is refused unless topics are optional', () => {
  expect(() => ask('who knows?')).toThrow('expected a name of the graph in the question, got none in "who knows?"');
  expect(askedQuestion('who knows?', graph, { names, needsTopic: false }).task.topics).toEqual([]);
});
