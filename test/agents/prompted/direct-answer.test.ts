import { describe, expect, test } from '@jest/globals';
import { questionAgents } from '../../../agents/question-agents.js';
import type { QuestionTask } from '../../../datasets/question.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { graphOf, resourcesOf, taskOf } from './clock-town.js';

const graph = graphOf([['The Heron', 'built_by', 'Ivo Marr']]);
const resources = resourcesOf(graph);
const task = taskOf({ question: 'who built it' });

describe.each(['io', 'cot'] as const)('%s prompting', (name) => {
  const ask = async (reply: unknown, change: Partial<QuestionTask> = {}) => {
    const client = scriptedClient(() => reply);
    const agent = await questionAgents.create(name, resources);
    const answer = await agent.answer({ ...task, ...change }, { client, trace: () => {} });
    return { answer, asked: client.asked };
  };

  test('B-TOG-9: asks once, says nothing of the graph, and maps names to entities', async () => {
    const { answer, asked } = await ask({ answers: ['ivo  marr', 'Somebody Else'], reasoning: 'I know.' });
    const found = { entities: [graph.entityId('Ivo Marr')], literals: ['Somebody Else'], degraded: false };
    expect(answer).toMatchObject(found);
    expect(asked).toMatchObject([{ kind: 'answer', evidence: [], final: true, withReasoning: name === 'cot' }]);
  });

  test('a truth question gets a verdict, or none', async () => {
    const verdict = async (...answers: string[]) => (await ask({ answers }, { form: 'truth' })).answer;
    expect([(await verdict('true')).truth, (await verdict('False')).truth]).toEqual([true, false]);
    expect(await verdict()).not.toHaveProperty('truth');
  });

  test('a reply that cannot be read is an abstention, not a lost question', async () => {
    const { answer } = await ask(undefined);
    expect(answer).toMatchObject({ entities: [], literals: [], degraded: true, stop: 'unparsed' });
  });
});

test('exemplars follow the data set, and a switch of no such domain is refused', async () => {
  const exemplarsIn = async (dataset: string) => {
    const client = scriptedClient(() => ({ answers: [] }));
    const agent = await questionAgents.create('io', { ...resources, dataset });
    await agent.answer(task, { client, trace: () => {} });
    return client.asked[0]!.examples.map(({ question }) => question);
  };
  expect(await exemplarsIn('metaqa')).toContain('who directed Jaws');
  expect(await exemplarsIn('anything')).toContain('who wrote the play Hedda Gabler');
  await expect(questionAgents.create('io', resources, { exemplars: 'cooking' })).rejects.toThrow(/exemplars/);
});
