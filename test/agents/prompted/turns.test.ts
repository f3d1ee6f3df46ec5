/** Agents of questions on dialogues and links: turns as questions, answers as walks, and the simulated model that knows their golds. */
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { dialogueAgents, type DialogueAgentResources } from '../../../agents/dialogue-agents.js';
import { answerWalks, turnContext, turnQuestion, turnSample } from '../../../agents/prompted/turns/turn-question.js';
import { linkQuestion, linkQuestionId, linkQuestionSamples } from '../../../agents/prompted/turns/link-question.js';
import { linkAgents } from '../../../agents/link-agents.js';
import { sampleContent } from '../../../datasets/sample-source.js';
import type { WalkSample, WalkTask } from '../../../datasets/walk-sample.js';
import { openOracle } from '../../../evaluation/oracle/open-oracle.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import type { Triple } from '../../../src/kg/graph.js';
import { createClients } from '../../../src/llm/client/create-clients.js';
import { openCompletionStore } from '../../../src/llm/client/completion-store.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { graphOf } from './clock-town.js';

const graph = graphOf([
  ['Harbour', 'written_by', 'Oda'],
  ['Pier', 'written_by', 'Oda'],
  ['Lamp', 'written_by', 'Oda'],
  ['Harbour', 'has_genre', 'Mystery'],
  ['Pier', 'has_genre', 'Mystery'],
]);
const triple = (head: string, relation: string, tail: string): Triple => [
  graph.entityId(head),
  graph.relationId(relation),
  graph.entityId(tail),
];
const [byOda, backToPier, backToLamp] = [
  triple('Harbour', 'written_by', 'Oda'),
  triple('Oda', '~written_by', 'Pier'),
  triple('Oda', '~written_by', 'Lamp'),
];
const genres = [triple('Harbour', 'has_genre', 'Mystery'), triple('Mystery', '~has_genre', 'Pier')];
const task: WalkTask = {
  id: 't#1',
  dialogueId: 't',
  messages: [
    { sender: 'assistant', text: 'What do you read?' },
    { sender: 'user', text: 'I loved harbour. What else is by its author?' },
  ],
  sender: 'assistant',
  start: graph.entityId('Harbour'),
  startName: 'Harbour',
  earlierPaths: [[triple('Pier', 'written_by', 'Oda')]],
};
const sample: WalkSample = { task, gold: { path: [byOda, backToLamp], target: backToLamp[2], inGraph: true } };
const ids = (...names: string[]) => names.map((name) => graph.entityId(name));
const relations = (...names: string[]) => names.map((name) => graph.relationId(name));

describe('a turn as a question', () => {
  test('is the last message with the start as its topic; what was said and walked before is context', () => {
    expect(turnQuestion(task)).toEqual({
      ...{ id: 't#1', subset: 'turns', form: 'entities', question: 'I loved harbour. What else is by its author?' },
      topics: [{ name: 'Harbour', entity: task.start, span: [8, 15] }],
    });
    expect(turnContext(graph, task)).toEqual([
      { label: 'Dialogue', lines: ['assistant: What do you read?'], role: 'history' },
      { label: 'Earlier walks', lines: ['Pier -[written_by]-> Oda'], role: 'history' },
    ]);
  });

  test('begins with the start where the message does not mention it', () => {
    const { question, topics } = turnQuestion({ ...task, messages: [{ sender: 'user', text: ' And then? ' }] });
    expect([question, topics[0]!.span]).toEqual(['Harbour: And then?', [0, 7]]);
    expect(turnQuestion({ ...task, messages: [] }).question).toBe('Harbour');
  });

  test('has the relations and the end of its path as gold, and counts as the turn where duplicates are looked for', () => {
    const made = turnSample(graph, sample);
    expect(made.gold).toEqual({
      answers: [{ name: 'Lamp', entity: graph.entityId('Lamp') }],
      chains: [relations('written_by', '~written_by')],
    });
    expect(sampleContent(made)).toBe(sampleContent(sample));
    const lost = turnSample(graph, { task, gold: { path: [[task.start, -1, -1]], target: -1, inGraph: false } });
    expect(lost.gold).toEqual({ answers: [], chains: [] });
  });
});

describe('walks of an answer', () => {
  const walks = (answer: Partial<Parameters<typeof answerWalks>[2]>, most = 10) =>
    answerWalks(graph, task.start, { entities: [], evidence: [], ...answer }, most);

  test('follow its chain, a walk to each entity in their order; other chains come behind', () => {
    const chain = relations('written_by', '~written_by');
    const chains = [chain, relations('has_genre')];
    expect(walks({ entities: ids('Lamp', 'Pier'), chain, chains })).toEqual([
      [byOda, backToLamp],
      [byOda, backToPier],
      [genres[0]],
    ]);
    expect(walks({ entities: ids('Lamp', 'Pier'), chain, chains }, 1)).toEqual([[byOda, backToLamp]]);
  });

  test('else the facts that were shown, else the fewest edges', () => {
    const evidence = [
      ['Harbour', 'has_genre', 'Mystery'],
      ['Pier', 'has_genre', 'Mystery'],
    ] as const;
    expect(walks({ entities: ids('Pier'), evidence })).toEqual([genres]);
    expect(walks({ entities: ids('Oda') })).toEqual([[byOda]]);
    const both = walks({ entities: ids('Pier') });
    expect(both).toHaveLength(2);
    expect(both).toEqual(expect.arrayContaining([genres, [byOda, backToPier]]));
  });

  test('are none where nothing leads to it, nor from a start that the graph lacks', () => {
    expect(walks({ entities: ids('Harbour') })).toEqual([]);
    expect(answerWalks(graph, -1, { entities: ids('Oda'), evidence: [] }, 10)).toEqual([]);
  });
});

const names = ['tog', 'fiske', 'self-veqa', 'rog', 'gcr'];

function resourcesFor(clientOf: DialogueAgentResources['taskClients']): DialogueAgentResources {
  return {
    ...{ graph, train: [sample], ranking: { beamWidth: 5 }, taskClients: clientOf },
    textLimits: {} as never,
    encoder: () => Promise.resolve(hashedEncoder(32)),
    embedding: () => Promise.reject(new Error('not asked for')),
  };
}

describe.each(names)('%s on a turn', (name) => {
  test('finds the gold with a faultless model that knows it', async () => {
    const model = openOracle({ graph, samples: [turnSample(graph, sample)], error: 0, seed: 0 });
    const store = openCompletionStore(join(folderWith({}), 'completions.jsonl'));
    const clients = createClients({ model, store, budget: 30, budgetMode: 'strict', seed: 0 });
    const client = (id: string) => {
      const { client, totals } = clients.clientFor(id);
      return { client, cost: () => ({ calls: totals().calls }) };
    };
    const agent = await dialogueAgents.create(
      name,
      resourcesFor(() => Promise.resolve(client)),
    );
    const [answer] = await agent.answer([task]);
    expect(answer!.cost.calls).toBeGreaterThan(0);
    expect(answer!.paths.map(({ path }) => path)).toContainEqual(sample.gold.path);
    expect(answer!.answers.map(({ entity }) => entity)).toContain(sample.gold.target);
  });

  test('shows every decision what was said before, and walks two edges at most', async () => {
    const client = scriptedClient(() => undefined);
    const of = () => ({ client, cost: () => ({}) });
    const agent = await dialogueAgents.create(
      name,
      resourcesFor(() => Promise.resolve(of)),
    );
    await agent.answer([task]);
    expect(client.asked.length).toBeGreaterThan(0);
    for (const { context, questionId } of client.asked) {
      expect(context?.slice(0, 2).map(({ label }) => label)).toEqual(['Dialogue', 'Earlier walks']);
      expect(questionId).toBe('t#1');
    }
    const { depth, maxHops } = dialogueAgents.settings(name, {});
    expect(depth ?? maxHops).toBe(2);
    expect(() => dialogueAgents.parse(`${name}:${depth === undefined ? 'maxHops' : 'depth'}=3`)).toThrow();
  });
});

describe('a link query as a question', () => {
  const labels = graph.entityNames.map((name) => `the ${name}`);
  const [head, relation] = [graph.entityId('Oda'), graph.relationId('~written_by')];

  test('is asked by the name of its relation, of an inverse the other way round, about the head', () => {
    const plain = linkQuestion(graph, labels, task.start, graph.relationId('written_by'));
    expect(plain.question).toBe('What is the written by of the Harbour?');
    const { question, topics } = linkQuestion(graph, labels, head, relation);
    expect(question).toBe('What has the Oda as its written by?');
    expect(topics.map(({ name, entity, span }) => [name, entity, question.slice(...span!)])).toEqual([
      ['Oda', head, 'the Oda'],
    ]);
  });

  test('has the answers of all its triples as gold, and no chain', () => {
    const queries = ids('Pier', 'Lamp', 'Pier').map((answer) => ({ head, relation, answer }));
    const [sample, ...others] = linkQuestionSamples(graph, labels, queries);
    expect(others).toEqual([]);
    expect(sample!.task.id).toBe(linkQuestionId(head, relation));
    expect(sample!.gold).toMatchObject({ answers: [{ name: 'Pier' }, { name: 'Lamp' }], chains: [] });
  });

  test('is ranked as its answers are, all others tied behind', async () => {
    const client = scriptedClient(() => ({ answers: ['Pier', 'Harbour'], chains: [[relation]] }));
    const unused = () => Promise.reject(new Error('not asked for'));
    const { ranker } = await linkAgents.create('rog', {
      ...{ dataset: 'toy', named: graph, graph, labels, seed: 0, horizon: 2, embedding: unused, rules: unused },
      ...{ ensemble: unused, zeroShot: unused, encoder: () => Promise.resolve(hashedEncoder(32)) },
      taskClients: () => () => ({ client, cost: () => ({ calls: client.asked.length }) }),
    });
    const found: number[][] = [];
    await ranker.rank([{ head, relation }], (_, { scores: [scores], cost }) => {
      expect(cost).toEqual({ calls: 2 });
      found.push([...scores!]);
    });
    const [pier, harbour] = ids('Pier', 'Harbour') as [number, number];
    expect(found).toEqual([graph.entityNames.map((_, i) => (i === pier ? -0 : i === harbour ? -1 : -Infinity))]);
  });
});
