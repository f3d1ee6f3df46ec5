import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  createQuestionAgent,
  noAnswer,
  questionAgentNames,
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

describe('an agent of one’s own', () => {
  test('is known by its name and switches, asks a model through the client, and is replayed', async () => {
    registerQuestionAgent('hearsay', hearsay);
    expect(questionAgentNames()).toContain('hearsay');
    await expect(createQuestionAgent('hearsay', resources, { lout: true })).rejects.toMatchObject({
      hint: 'It has loud.',
    });
    const agent = await createQuestionAgent('hearsay', resources, { loud: true });
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

  test('replaces one of its name; a name must be one that a command line can say', async () => {
    registerQuestionAgent('hearsay', hearsay);
    registerQuestionAgent('hearsay', { ...hearsay, create: () => Promise.reject(new Error('the second one')) });
    await expect(createQuestionAgent('hearsay', resources)).rejects.toThrow('the second one');
    for (const name of ['', 'a:b', 'a@best', 'runs/a']) {
      expect(() => registerQuestionAgent(name, hearsay)).toThrow('expected a name like my-agent');
    }
  });
});
