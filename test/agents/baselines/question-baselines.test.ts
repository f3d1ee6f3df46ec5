import { describe, expect, test } from '@jest/globals';
import { bestTemplateChains, nearestText } from '../../../agents/baselines/template-lookup.js';
import type { QuestionSession, TraceEvent } from '../../../agents/question-agent.js';
import { questionAgents } from '../../../agents/question-agents.js';
import type { QuestionSample } from '../../../datasets/question.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { NameIndex } from '../../../src/kg/name-index.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { filmGraph, filmQuestions, questionOf } from '../../fixtures/toy-questions.js';

const graph = filmGraph();
const train = filmQuestions(graph);
const ids = (...relations: string[]) => relations.map((relation) => graph.relationId(relation));
const names = (entities: readonly number[]) => entities.map((entity) => graph.entityNames[entity]);
const search = { horizon: 3, screened: 8, widest: 1000 };

const resources = (samples: readonly QuestionSample[] = train) => ({
  dataset: 'films',
  graph,
  names: new NameIndex(graph),
  encoder: () => Promise.resolve(hashedEncoder(64)),
  train: () => samples,
  seed: 1,
});
const session = (events: TraceEvent[] = []): QuestionSession => ({
  client: scriptedClient(() => undefined),
  trace: (event) => void events.push(event),
});

describe('the search for a template’s relations', () => {
  test('finds them from answers alone', () => {
    const blind = train.map((sample) => ({ ...sample, gold: { ...sample.gold, chains: [] } }));
    const chains = bestTemplateChains(graph, blind, search);
    expect([...chains].map(([template, chain]) => [template, [...chain]])).toEqual([
      ['who directed [E]', ids('directed_by')],
      ['films by the director of [E]', ids('directed_by', '~directed_by')],
      ['when were the films with [E] released', ids('~starring', 'year')],
      ['years of films by the director of [E]', ids('directed_by', '~directed_by', 'year')],
    ]);
  });

  test('breaks ties of the first questions by all questions', () => {
    // tenet: the years of its own film do not exist; dunkirk: both paths give a film; the film of hardy is inception.
    const ask = (id: string, topic: string, answers: string[]) =>
      questionOf(graph, id, `other films like [${topic}]`, [], answers);
    const both = [
      ask('a', 'dunkirk', ['inception']),
      ask('b', 'inception', ['juno', 'dunkirk']),
      ask('c', 'juno', ['inception']),
    ];
    for (const screened of [1, 3]) {
      const chains = bestTemplateChains(graph, both, { ...search, screened });
      expect([...chains.values()].map((chain) => [...chain])).toEqual([ids('starring', '~starring')]);
    }
  });

  test('takes the shorter of equals, and leaves out what has no findable answer', () => {
    const same = [questionOf(graph, 'a', 'who made [juno]', [], ['reitman'])];
    expect([...bestTemplateChains(graph, same, search).values()].map((chain) => [...chain])).toEqual([
      ids('directed_by'),
    ]);
    const lost = [questionOf(graph, 'a', 'who made [juno]', [], ['unknown'])];
    expect(bestTemplateChains(graph, lost, search).size).toBe(0);
  });
});

describe('template-lookup', () => {
  test('answers a known template from the new topic, with the facts', async () => {
    const agent = await questionAgents.create('template-lookup', resources());
    const { task } = questionOf(graph, 'x', 'films by the director of [inception]', [], []);
    const answer = await agent.answer(task, session());
    expect(names(answer.entities)).toEqual(['tenet', 'dunkirk']);
    expect(answer).toMatchObject({
      stop: 'looked up',
      chain: ids('directed_by', '~directed_by'),
      cost: { graphReads: 2 },
    });
    expect(answer.evidence).toEqual([
      ['inception', 'directed_by', 'nolan'],
      ['tenet', 'directed_by', 'nolan'],
      ['dunkirk', 'directed_by', 'nolan'],
    ]);
  });

  test('takes the nearest template for one that train lacks, or abstains', async () => {
    const { task } = questionOf(graph, 'x', 'tell me films by the director of [inception]', [], []);
    const events: TraceEvent[] = [];
    const nearest = await questionAgents.create('template-lookup', resources());
    expect(names((await nearest.answer(task, session(events))).entities)).toEqual(['tenet', 'dunkirk']);
    expect(events).toContainEqual({ event: 'note', text: 'nearest template: films by the director of [E]' });
    const strict = await questionAgents.create('template-lookup', resources(), { unseen: 'abstain' });
    expect(await strict.answer(task, session())).toMatchObject({ entities: [], stop: 'unseen template' });
  });

  test('says where its relations break off, and survives an empty train split', async () => {
    const agent = await questionAgents.create('template-lookup', resources());
    const dead = questionOf(graph, 'x', 'who directed [2010]', [], []).task;
    expect(await agent.answer(dead, session())).toMatchObject({ entities: [], evidence: [], stop: 'dead end' });
    const lost = questionOf(graph, 'x', 'who directed [atlantis]', [], []).task;
    expect(await agent.answer(lost, session())).toMatchObject({ entities: [], stop: 'dead end' });
    const empty = await questionAgents.create('template-lookup', resources([]));
    expect(await empty.answer(dead, session())).toMatchObject({ stop: 'unseen template' });
  });

  test('the nearest text is the one with the largest cosine', async () => {
    const nearest = nearestText(['who directed it', 'when was it released'], () => Promise.resolve(hashedEncoder(64)));
    expect(await nearest(['when was that released', 'who directed'])).toEqual([1, 0]);
  });
});

describe('random-chain', () => {
  test('is seeded by run and question, independent of order', async () => {
    const agent = await questionAgents.create('random-chain', resources());
    const asked = async (samples: readonly QuestionSample[]) =>
      new Map(
        await Promise.all(samples.map(async ({ task }) => [task.id, await agent.answer(task, session())] as const)),
      );
    const forwards = await asked(train);
    const backwards = await asked([...train].reverse());
    for (const [id, answer] of forwards) expect(backwards.get(id)).toEqual(answer);
    expect(new Set([...forwards.values()].map(({ chain }) => chain!.join())).size).toBeGreaterThan(1);
  });

  test('its confidence is the probability of its draws', async () => {
    const agent = await questionAgents.create('random-chain', resources(), { horizon: 1 });
    // Three relations leave tenet.
    expect((await agent.answer(train[0]!.task, session())).confidence).toBeCloseTo(1 / 3, 12);
  });

  test('walks as far as the data set says when asked to', async () => {
    const agent = await questionAgents.create('random-chain', resources(), { hops: 'given' });
    expect(agent.hopSource?.(false)).toBe('given');
    expect((await questionAgents.create('random-chain', resources())).hopSource?.(false)).toBe('none');
    for (const { task } of train.slice(4, 8)) {
      const { chain } = await agent.answer(task, session());
      expect(chain!.length).toBeLessThanOrEqual(task.hops!);
    }
    const lost = questionOf(graph, 'x', 'who directed [atlantis]', [], []).task;
    expect(await agent.answer(lost, session())).toMatchObject({ entities: [], stop: 'no topic' });
  });
});

test('both are known by name and say no to truth questions', async () => {
  expect(questionAgents.names()).toEqual(expect.arrayContaining(['template-lookup', 'random-chain']));
  for (const name of ['template-lookup', 'random-chain']) {
    const agent = await questionAgents.create(name, resources());
    const answer = await agent.answer({ ...train[0]!.task, form: 'truth' }, session());
    expect(answer).toMatchObject({ entities: [], stop: 'form' });
    expect(answer.truth).toBeUndefined();
  }
});
