import { describe, expect, test } from '@jest/globals';
import { questionAgents } from '../../../agents/question-agents.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { graphOf, resourcesOf, taskOf } from './clock-town.js';

const graph = graphOf([['The Heron', 'built_by', 'Ivo Marr']]);
const resources = resourcesOf(graph);
const task = taskOf({ question: 'who built it' });

describe.each(['io', 'cot'] as const)('%s prompting', (name) => {
  test('B-TOG-9: asks once, says nothing of the graph, and maps names to entities', async () => {
    const client = scriptedClient(() => ({ answers: ['ivo  marr', 'Somebody Else'], reasoning: 'I know.' }));
    const agent = await questionAgents.create(name, resources);
    const answer = await agent.answer(task, { client, trace: () => {} });
    expect(answer).toMatchObject({
      entities: [graph.entityId('Ivo Marr')],
      literals: ['Somebody Else'],
      degraded: false,
    });
    expect(client.asked).toHaveLength(1);
    expect(client.asked[0]).toMatchObject({ kind: 'answer', evidence: [], final: true, withReasoning: name === 'cot' });
  });

  test('a truth question gets a verdict, or none', async () => {
    const agent = await questionAgents.create(name, resources);
    const ask = (answers: string[]) =>
      agent.answer({ ...task, form: 'truth' }, { client: scriptedClient(() => ({ answers })), trace: () => {} });
    expect((await ask(['true'])).truth).toBe(true);
    expect((await ask(['False'])).truth).toBe(false);
    expect(await ask([])).not.toHaveProperty('truth');
  });

  test('a reply that cannot be read is an abstention, not a lost question', async () => {
    const agent = await questionAgents.create(name, resources);
    const answer = await agent.answer(task, { client: scriptedClient(() => undefined), trace: () => {} });
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
