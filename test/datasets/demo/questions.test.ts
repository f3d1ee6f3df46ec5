import { describe, expect, test } from '@jest/globals';
import { demoQuestions } from '../../../datasets/demo/questions.js';
import { demoSettings } from '../../../datasets/demo/schema.js';
import { demoWorld } from '../../../datasets/demo/world.js';
import { executeChain } from '../../../src/kg/frontier.js';

const settings = demoSettings.parse({});
const world = demoWorld(settings);
const { graph } = world;
const questions = demoQuestions(world, settings);
const reached = (topic: string, chain: readonly string[]) => {
  const relations = chain.map((relation) => graph.relationId(relation));
  const { entities } = executeChain(graph, [graph.entityId(topic)], relations);
  return Array.from(entities, (entity) => graph.entityNames[entity]!);
};

describe('questions of the demo world', () => {
  test('answers are all that the chain reaches', () => {
    for (const { form, topics, chains, answers } of questions) {
      if (form !== 'truth') expect(answers.map(({ name }) => name)).toEqual(reached(topics[0]!.name, chains![0]!));
    }
  });

  test('statements hold where they say so, half of them', () => {
    const statements = questions.filter(({ form }) => form === 'truth');
    for (const { topics, chains, truth, claimed, question } of statements) {
      expect(reached(topics[0]!.name, chains![0]!).includes(claimed!)).toBe(truth);
      expect(question).toContain(claimed);
    }
    expect(statements.filter(({ truth }) => truth)).toHaveLength(statements.length / 2);
  });

  test('show their topic where they say it stands', () => {
    for (const { question, topics } of questions) {
      expect(topics).toHaveLength(1);
      expect(question.slice(...topics[0]!.span!)).toBe(topics[0]!.name);
      expect(question).not.toMatch(/[{}[\]]/);
    }
  });

  test('no text is in two splits, nor one question in other words', () => {
    const texts = new Set(questions.map(({ question }) => question));
    const asked = new Set(questions.map(({ subset, topics, type }) => `${subset} ${topics[0]!.name} ${type}`));
    expect([texts.size, asked.size]).toEqual([questions.length, questions.length]);
  });
});
