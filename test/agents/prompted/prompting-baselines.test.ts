import { describe, expect, test } from '@jest/globals';
import { type ArkPrompt, arkAgent } from '../../../agents/prompted/ark/ark-agent.js';
import { outPathChoices, writtenPath } from '../../../agents/prompted/ark/paths.js';
import { questionAgents } from '../../../agents/question-agents.js';
import type { QuestionTask } from '../../../datasets/question.js';
import type { WalkTask } from '../../../datasets/walk-sample.js';
import type { ChooseManyDecision } from '../../../src/llm/decision.js';
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

describe('ark', () => {
  const graph = graphOf([
    ['Harbour', 'written_by', 'Oda'],
    ['Pier', 'written_by', 'Oda'],
    ['Harbour', 'has_genre', 'Mystery'],
  ]);
  const id = (name: string) => graph.entityId(name);
  const relation = (name: string) => graph.relationId(name);
  const twoHops = [
    [id('Harbour'), relation('written_by'), id('Oda')],
    [id('Oda'), relation('~written_by'), id('Pier')],
  ] as const;
  const task: WalkTask = {
    id: 't#1',
    dialogueId: 't',
    messages: [
      { sender: 'assistant', text: 'What do you read?' },
      { sender: 'user', text: 'Harbour. What else is by its author?' },
    ],
    sender: 'assistant',
    start: id('Harbour'),
    startName: 'Harbour',
    earlierPaths: [[[id('Pier'), relation('written_by'), id('Oda')]]],
  };

  async function run(prompt: ArkPrompt, reply: unknown, budget?: number) {
    const client = scriptedClient(() => reply, budget);
    const clientFor = () => ({ client, cost: () => ({ calls: client.asked.length }) });
    const [answer] = await arkAgent(prompt, { graph, clientFor, beamWidth: 10 }).answer([task]);
    return { answer: answer!, asked: client.asked };
  }

  describe('prompting baselines of LLM-ARK', () => {
    test.each(['ark-standard', 'ark-normal'] as const)('%s reads the triples that were written', async (prompt) => {
      const written = { answers: ['Harbour | Written by | oda', 'Oda | ~written_by | PIER'] };
      const { answer, asked } = await run(prompt, written);
      expect(answer.paths.map(({ path }) => path)).toEqual([twoHops]);
      expect(answer.answers).toEqual([{ entity: id('Pier'), logProb: 0, summedLogProb: 0 }]);
      expect(answer.cost).toEqual({ calls: 1 });
      const labels = asked[0]!.context!.map(({ label }) => label);
      expect(labels).toEqual(prompt === 'ark-standard' ? ['Entity'] : ['Said before', 'Walked before', 'Entity']);
    });

    test('out-paths are all there once, the way straight back left out, and are chosen by number', async () => {
      const { answer, asked } = await run('ark-opa', { choices: [1, 0] });
      const { candidates } = asked[0] as ChooseManyDecision;
      expect(candidates.map(({ text }) => text)).toEqual([
        'written_by → Oda',
        'written_by → Oda, ~written_by → Pier',
        'has_genre → Mystery',
      ]);
      expect(answer.paths.map(({ path }) => path)).toEqual([twoHops, [twoHops[0]]]);
    });

    test('many out-paths are grouped by their relations, the largest groups first', () => {
      expect(outPathChoices(graph, id('Oda'), 2)).toEqual([
        { text: '~written_by (2)', paths: expect.any(Array) },
        { text: '~written_by → has_genre (1)', paths: expect.any(Array) },
      ]);
      expect(outPathChoices(graph, id('Oda'), 2)[0]!.paths).toHaveLength(2);
    });

    test('a step that is no edge makes no walk; Equal stays', () => {
      expect(writtenPath(graph, id('Harbour'), ['Harbour | written_by | Nobody'])).toBeUndefined();
      expect(writtenPath(graph, id('Harbour'), ['Harbour | ~written_by | Oda'])).toBeUndefined();
      expect(
        writtenPath(graph, id('Harbour'), ['Harbour | written_by | Oda', 'Oda | written_by | Pier']),
      ).toBeUndefined();
      expect(writtenPath(graph, id('Harbour'), [])).toBeUndefined();
      expect(writtenPath(graph, id('Harbour'), ['Harbour | written_by | Oda', 'Oda | Equal | Oda'])).toEqual([
        twoHops[0],
      ]);
    });

    test('unreadable replies and a spent budget are empty answers', async () => {
      expect((await run('ark-standard', undefined)).answer.paths).toEqual([]);
      expect((await run('ark-opa', { choices: [0] }, 0)).answer).toMatchObject({ paths: [], cost: { calls: 0 } });
    });
  });
});
