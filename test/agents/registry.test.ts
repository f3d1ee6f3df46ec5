import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  AgentRegistry,
  dialogueAgents,
  type DialogueAgentResources,
  linkAgents,
  noAnswer,
  scorerRanker,
  questionAgents,
  registerQuestionAgent,
  type QuestionAgentEntry,
  type QuestionAgentResources,
} from '../../agents/index.js';
import { NameIndex } from '../../src/kg/index.js';
import { createClients, openCompletionStore, replayModel } from '../../src/llm/index.js';
import type { AnswerReply, CompletionStore, Example, LanguageModel } from '../../src/llm/index.js';
import { scriptedModel } from '../fixtures/scripted-model.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { filmGraph } from '../fixtures/toy-questions.js';

const settings = z.strictObject({ loud: z.boolean().default(false) });

const examples: Example<AnswerReply>[] = [];

const hearsay: QuestionAgentEntry<typeof settings> = {
  settings,
  create: (_, { loud }) => ({
    name: 'hearsay',
    topicGiven: false,
    prompted: true,
    async answer({ id: questionId, question }, { client }) {
      const { reply } = await client.decide({
        kind: 'answer',
        phase: 'ask',
        questionId,
        question,
        task: 'Answer the question.',
        examples,
        evidence: [],
        form: 'entities',
        withReasoning: false,
        final: true,
      });
      const literals = (reply?.answers ?? []).map((answer) => (loud ? answer.toUpperCase() : answer));
      return { ...noAnswer('heard'), literals };
    },
  }),
};

const graph = filmGraph();
const resources: QuestionAgentResources = {
  dataset: 'films',
  graph,
  names: new NameIndex(graph),
  encoder: () => Promise.reject(new Error('expected no request for an encoder')),
  train: () => [],
  seed: 0,
};

test('registries of all tasks are open, read switches alike, and name what is near', async () => {
  linkAgents.register('degrees', {
    settings: z.strictObject({ sign: z.number().default(1) }),
    needs: ['train'],
    create: ({ graph: { offsets } }, { sign }) => {
      const scoreTails = (_head: number, _relation: number, out: Float64Array) =>
        out.forEach((_, entity) => (out[entity] = sign * (offsets[entity + 1]! - offsets[entity]!)));
      const scorer = { name: 'degrees', numEntities: offsets.length - 1, scoreTails };
      return { ranker: scorerRanker(scorer, { offsets }), agent: 'degrees' };
    },
  });
  const prompted = ['tog', 'fiske', 'self-veqa', 'rog', 'gcr'];
  expect(linkAgents.names()).toEqual([
    'transe',
    'bilinear',
    'rules',
    'ensemble',
    'zero-shot',
    'random',
    ...prompted,
    'degrees',
  ]);
  const { agent, switches } = linkAgents.parse('degrees:sign=-1', ['sign=2']);
  expect({ agent, switches }).toEqual({ agent: 'degrees', switches: { sign: -1 } });
  expect(linkAgents.parse('degrees', ['sign=1']).switches).toEqual({});
  const refused = () => Promise.reject(new Error());
  const asking = {
    dataset: 'toy',
    named: graph,
    labels: [],
    seed: 0,
    encoder: refused,
    taskClients: () => refused as never,
  };
  const lazily = { horizon: 2, embedding: refused, rules: refused, ensemble: refused, zeroShot: refused, ...asking };
  const { ranker } = await linkAgents.create(agent, { graph, ...lazily }, switches);
  await ranker.rank([{ head: 0, relation: 0 }], (_, { scores: [scores] }) => {
    const degrees = Array.from(graph.offsets.subarray(1), (end, entity) => end - graph.offsets[entity]!);
    expect([...scores!]).toEqual(degrees.map((degree) => (degree === 0 ? -Infinity : -degree)));
  });
  expect(() => dialogueAgents.parse('memory:size=3')).toThrow(
    'expected switches of agent memory, got the unknown size, at its switches',
  );
  await expect(dialogueAgents.create('memry', {} as DialogueAgentResources)).rejects.toMatchObject({
    hint: 'Did you mean "memory"?',
  });
});

test('options that an agent reads while it is made are noted by value, others cannot be read later', async () => {
  const agents = new AgentRegistry<{ seed: number }, { seed?: number; later(): number }>({
    reads: { settings, create: ({ seed }, _settings) => ({ seed, later: () => seed }) },
    late: { create: (resources) => ({ later: () => resources.seed }) },
  });
  const open = (name: string) =>
    agents.open(name, { seed: 3, other: 4 }, (options) => ({
      get seed() {
        return options.seed;
      },
    }));
  const { made, options } = await open('reads');
  expect([made.later(), options]).toEqual([3, { switches: { loud: false }, seed: 3 }]);
  const late = await open('late');
  expect(late.options).toEqual({ switches: {} });
  expect(() => late.made.later()).toThrow('expected agent late to read seed while it is made');
});

describe('an agent of one’s own', () => {
  test('is known by its name and switches, asks a model through the client, and is replayed', async () => {
    registerQuestionAgent('hearsay', hearsay);
    expect(questionAgents.names()).toContain('hearsay');
    await expect(questionAgents.create('hearsay', resources, { lout: true })).rejects.toMatchObject({
      hint: 'Known are loud.',
    });
    const agent = await questionAgents.create('hearsay', resources, { loud: true });
    const file = join(folderWith({}), 'completions.jsonl');
    const answerBy = async (modelOf: (store: CompletionStore) => LanguageModel, readOnly: boolean) => {
      const store = openCompletionStore(file, { readOnly });
      const clients = createClients({ model: modelOf(store), store, budget: 1, budgetMode: 'strict', seed: 0 });
      const { client } = clients.clientFor('q');
      const task = { id: 'q', subset: 'all', question: 'who directed tenet', topics: [], form: 'entities' } as const;
      const { literals } = await agent.answer(task, { client, trace: () => {} });
      store.close();
      return literals;
    };
    expect(await answerBy(() => scriptedModel(() => ({ answers: ['nolan'] })), false)).toEqual(['NOLAN']);
    expect(await answerBy(replayModel, true)).toEqual(['NOLAN']);
  });

  test('has a name that is new and that a command line can say', () => {
    expect(() => registerQuestionAgent('fiske', hearsay)).toThrow('got "fiske", which is registered already');
    for (const name of ['', 'a:b', 'a@best', 'runs/a']) {
      expect(() => registerQuestionAgent(name, hearsay)).toThrow('expected a name like my-agent');
    }
  });
});
