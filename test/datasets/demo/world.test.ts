import { describe, expect, test } from '@jest/globals';
import { demoDialogues } from '../../../datasets/demo/write-release.js';
import { demoQuestions } from '../../../datasets/demo/questions.js';
import { demoSettings } from '../../../datasets/demo/schema.js';
import { demoFacts, demoWorld } from '../../../datasets/demo/world.js';
import { splitNames, walkSamples } from '../../../datasets/walk-sample.js';
import { executeChain } from '../../../src/kg/frontier.js';

const settings = demoSettings.parse({ dialogues: 600 });
const world = demoWorld(settings);
const { graph } = world;

describe('the default world', () => {
  test('has about the size that is asked for', () => {
    expect(Math.abs(graph.numEntities - 3000)).toBeLessThan(100);
    expect(Math.abs(graph.numEdges - 20_000)).toBeLessThan(600);
    expect(graph.numRelations).toBe(40);
  });
});

test('another seed gives another world', () => {
  const other = demoWorld({ ...settings, seed: 2 });
  const known = new Set(graph.entityNames);
  const shared = other.graph.entityNames.filter((name) => known.has(name) && !/^\d+$|^[a-z]/.test(name));
  expect(shared.length).toBeLessThan(100);
});

test.each([
  [200, 1400],
  [3000, 60_000],
  [20_000, 130_000],
])('%d entities and %d triples are met within a few in a hundred', (entities, triples) => {
  let facts = 0;
  for (const { head, tail } of demoFacts({ seed: 4, entities, triples })) facts += Number(head !== tail);
  expect(Math.abs(2 * facts - triples) / triples).toBeLessThan(0.1);
});

describe('dialogues of the demo world', () => {
  const splits = demoDialogues(world, settings);
  const all = splitNames.flatMap((split) => splits[split]);
  const samples = walkSamples(all, graph);

  test('are as many as asked for, 70 to 15 to 15', () => {
    expect(splitNames.map((split) => splits[split].length)).toEqual([420, 90, 90]);
  });

  test('no two begin with the same words, so none is in two splits', () => {
    expect(new Set(all.map(({ messages }) => messages[0]!.text)).size).toBe(all.length);
  });

  test('are grounded: every path lies in the graph, follows a message and starts at what was talked of', () => {
    expect(samples.every(({ gold }) => gold.inGraph)).toBe(true);
    expect(samples.every(({ task }) => task.messages.length > 0)).toBe(true);
    for (const { task } of samples) {
      const visited = task.earlierPaths.flatMap((path) => path.flatMap(([head, , tail]) => [head, tail]));
      if (visited.length > 0) expect(visited).toContain(task.start);
    }
  });

  test('leave no place of a pattern open', () => {
    const texts = all.flatMap(({ messages }) => messages.map(({ text }) => text));
    expect(texts.filter((text) => /[{}]|undefined| {2}|\?\?|\.\.|^\p{Ll}/u.test(text))).toEqual([]);
  });
});

describe('questions of the demo world', () => {
  const questions = demoQuestions(world, settings);
  const reached = (topic: string, chain: readonly string[]) => {
    const relations = chain.map((relation) => graph.relationId(relation));
    const { entities } = executeChain(graph, [graph.entityId(topic)], relations);
    return Array.from(entities, (entity) => graph.entityNames[entity]!);
  };

  test('answers are all that the chain reaches', () => {
    const lists = questions.filter(({ form }) => form !== 'truth');
    expect(lists.map(({ answers }) => answers.map(({ name }) => name))).toEqual(
      lists.map(({ topics, chains }) => reached(topics[0]!.name, chains![0]!)),
    );
  });

  test('statements hold where they say so, half of them', () => {
    const statements = questions.filter(({ form }) => form === 'truth');
    const isSo = ({ topics, chains, truth, claimed, question }: (typeof questions)[number]) =>
      reached(topics[0]!.name, chains![0]!).includes(claimed!) === truth && question.includes(claimed!);
    expect(statements.filter((one) => !isSo(one))).toEqual([]);
    expect(statements.filter(({ truth }) => truth)).toHaveLength(statements.length / 2);
  });

  test('show their topic where they say it stands', () => {
    const shows = ({ question, topics: [topic, ...more] }: (typeof questions)[number]) =>
      more.length === 0 && question.slice(...topic!.span!) === topic!.name && !/[{}[\]]/.test(question);
    expect(questions.filter((one) => !shows(one))).toEqual([]);
  });

  test('no text is in two splits, nor one question in other words', () => {
    const texts = new Set(questions.map(({ question }) => question));
    const asked = new Set(questions.map(({ subset, topics, type }) => `${subset} ${topics[0]!.name} ${type}`));
    expect([texts.size, asked.size]).toEqual([questions.length, questions.length]);
  });
});
