import { describe, expect, test } from '@jest/globals';
import { nearestText, templateChains } from '../../../agents/baselines/template-lookup.js';
import { type DialogueAgentResources, dialogueAgents } from '../../../agents/dialogue-agents.js';
import type { QuestionSession, TraceEvent } from '../../../agents/question-agent.js';
import { questionAgents } from '../../../agents/question-agents.js';
import type { QuestionSample } from '../../../datasets/question.js';
import type { EmbeddingTable } from '../../../src/embedding/transe.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { NameIndex } from '../../../src/kg/name-index.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { filmGraph, filmQuestions, questionOf } from '../../fixtures/toy-questions.js';
import { graphOf } from '../../fixtures/toy-walks.js';
import { namedWalk, readPath, sampleOf, world } from './toy-world.js';

const train = [
  sampleOf('a', namedWalk('Heat', 'starred', 'Pacino')),
  sampleOf('b', namedWalk('Heat', 'starred', 'Pacino')),
  sampleOf('c', namedWalk('Ali', 'directed_by', 'Mann')),
  sampleOf('d', namedWalk('Mann', '~directed_by', 'Ali', 'starred', 'Smith')),
  sampleOf('e', namedWalk('Heat', 'starred', 'Unknown')),
];

/** Vectors: Mann is close to Heat, everything else far. */
function table(): EmbeddingTable {
  const at = Float32Array.from(world.entityNames, (name) => (name === 'Heat' ? 0 : name === 'Mann' ? 1 : 9));
  const [numEntities, numRelations] = [world.numEntities, world.numRelations];
  return {
    model: 'transe',
    norm: 1,
    dim: 1,
    numEntities,
    numRelations,
    entities: at,
    relations: new Float32Array(numRelations),
  };
}

const resources: DialogueAgentResources = {
  graph: world,
  train,
  ranking: { beamWidth: 100 },
  embedding: async () => table(),
  encoder: async () => hashedEncoder(256),
  textLimits: { lastMessageTokens: 96, nameTokens: 32 },
  taskClients: () => Promise.reject(new Error('no language model here')),
};
const ask = async (name: string, task = sampleOf('q', namedWalk('Heat', 'genre', 'Drama')).task, change = {}) => {
  const agent = await dialogueAgents.create(name, { ...resources, ...change });
  return (await agent.answer([task]))[0]!;
};

/** Prompted agents are tested separately. */
const baselines = dialogueAgents.names().filter((name) => !dialogueAgents.asksModel(name));

describe.each(baselines)('%s', (name) => {
  test('ranks every walk of one and two hops once, best first, as a distribution', async () => {
    const { paths, confidence } = await ask(name);
    // Heat has 4 edges; its tails have 2 (Mann), 1 (Pacino), 1 (De Niro) and 2 (Drama).
    expect(paths).toHaveLength(4 + 6);
    expect(new Set(paths.map(({ path }) => readPath(path))).size).toBe(10);
    paths.forEach(({ logProb }, i) => i && expect(logProb).toBeLessThanOrEqual(paths[i - 1]!.logProb + 1e-6));
    const total = paths.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0);
    expect(total).toBeLessThan(1 + 1e-5);
    if (!['frequency', 'popularity'].includes(name)) expect(total).toBeCloseTo(1, 5);
    expect(confidence).toBeGreaterThan(0);
    expect(confidence).toBeLessThanOrEqual(1);
  });

  test('answers a start without edges, or unknown, with nothing', async () => {
    const lonely = sampleOf('q', [[world.entityId('Lonely'), 0, 0]]).task;
    for (const task of [lonely, { ...lonely, start: -1 }]) {
      expect(await ask(name, task)).toMatchObject({ paths: [], answers: [], confidence: 0 });
    }
  });

  test('gives the same answer again', async () => {
    expect((await ask(name)).paths).toEqual((await ask(name)).paths);
  });
});

describe('what each baseline prefers', () => {
  const best = async (name: string, change = {}) => readPath((await ask(name, undefined, change)).paths[0]!.path);

  test('random gives each edge and each stop its share', async () => {
    const { paths } = await ask('random');
    const share = (walk: string) => Math.exp(paths.find(({ path }) => readPath(path) === walk)!.logProb);
    expect(share('directed_by Mann')).toBeCloseTo((1 / 4) * (1 / 3), 6);
    expect(share('starred Pacino')).toBeCloseTo((1 / 4) * (1 / 2), 6);
    expect(share('genre Drama, ~genre Ali')).toBeCloseTo((1 / 4) * (1 / 3), 6);
  });

  test('stop-prior stops as often as train does, smoothed by one', async () => {
    // Of four golds in the graph three have one hop.
    const { paths } = await ask('stop-prior');
    const oneHop = paths
      .filter(({ path }) => path.length === 1)
      .reduce((sum, { logProb }) => sum + Math.exp(logProb), 0);
    expect(oneHop).toBeCloseTo((3 + 1) / (4 + 2), 6);
  });

  test('frequency shares a relation’s count among its tails', async () => {
    // starred: 2 of 4, over two tails; directed_by: 1 of 4, one tail. Both beat sequences that are not in train.
    const { paths } = await ask('frequency');
    const top = paths.slice(0, 3).map(({ path }) => readPath(path));
    expect(new Set(top)).toEqual(new Set(['starred Pacino', 'starred De Niro', 'directed_by Mann']));
    expect(paths[0]!.logProb).toBeCloseTo(Math.log(1 / 4), 1);
  });

  test('popularity prefers the tails that train chose, and says that it counts entities', async () => {
    // Pacino weighs 1 + 2, De Niro 1: 2/4 · 3/4.
    const { paths } = await ask('popularity');
    expect(readPath(paths[0]!.path)).toBe('starred Pacino');
    expect(paths[0]!.logProb).toBeCloseTo(Math.log(3 / 8), 1);
    expect((await dialogueAgents.create('popularity', resources)).note).toBe('uses entity counts');
  });

  test('memory repeats what train did from this start, and knows nothing of other starts', async () => {
    const { paths } = await ask('memory');
    expect(readPath(paths[0]!.path)).toBe('starred Pacino');
    expect(paths[0]!.logProb).toBeCloseTo(Math.log((2 + 1 / 8) / 3), 6);
    const pacino = sampleOf('q', namedWalk('Pacino', '~starred', 'Heat')).task;
    expect((await ask('memory', pacino)).paths).toEqual((await ask('random', pacino)).paths);
  });

  test('transe takes the edge to the nearest entity, as sharply as train agrees', async () => {
    const favouring = [sampleOf('x', namedWalk('Heat', 'directed_by', 'Mann'))];
    expect(await best('transe', { train: favouring })).toBe('directed_by Mann');
    const { paths } = await ask('transe', undefined, { train: [] });
    expect(paths[0]!.logProb).toBeCloseTo(Math.log((1 / 4) * (1 / 2)), 6); // nothing fitted: uniform
  });

  test('text-similarity takes the edge that the last message names, and books its encodes', async () => {
    const messages = [{ sender: 'user' as const, text: 'Was Pacino starred in it?' }];
    const { task } = sampleOf('q', namedWalk('Heat', 'genre', 'Drama'), { messages });
    const answer = await ask('text-similarity', task);
    expect(readPath(answer.paths[0]!.path)).toBe('starred Pacino');
    expect(answer.cost.encodes).toBe(1);
  });
});

describe('baselines of questions', () => {
  const graph = filmGraph();
  const train = filmQuestions(graph);
  const ids = (...relations: string[]) => relations.map((relation) => graph.relationId(relation));
  const names = (entities: readonly number[]) => entities.map((entity) => graph.entityNames[entity]);
  const search = { horizon: 3, screened: 8, widest: 1000 };
  const chainsOf = (samples: readonly QuestionSample[], screened = 8) => {
    const { chainOf, known } = templateChains(graph, samples, { ...search, screened });
    return new Map(known().map((template) => [template, chainOf(template)!]));
  };

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
      const chains = chainsOf(blind);
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
        const chains = chainsOf(both, screened);
        expect([...chains.values()].map((chain) => [...chain])).toEqual([ids('starring', '~starring')]);
      }
    });

    test('keeps a sequence that falls behind first and wins at the end', () => {
      const topics = ['t0', 't1', 't2', 't3', 't4', 't5'];
      const facts = topics.flatMap((t) => [[t, 'r', `${t}r`] as const, [t, 's', `${t}s`] as const]);
      const toy = graphOf('ends', [...facts, ['t0', 's', 't0r'], ['t0', 'q', 't0r']]);
      const asked = topics.map((t, i) => questionOf(toy, t, `end of [${t}]`, [], [`${t}${i < 2 ? 'r' : 's'}`]));
      const { chainOf } = templateChains(toy, asked, { ...search, screened: 1 });
      expect([...chainOf('end of [E]')!]).toEqual([toy.relationId('s')]);
      expect(chainOf('end of [E], asked in no way')).toBeUndefined();
    });

    test('takes the shorter of equals, and leaves out what has no findable answer', () => {
      const same = [questionOf(graph, 'a', 'who made [juno]', [], ['reitman'])];
      expect([...chainsOf(same).values()].map((chain) => [...chain])).toEqual([ids('directed_by')]);
      const lost = [questionOf(graph, 'a', 'who made [juno]', [], ['unknown'])];
      expect(chainsOf(lost).size).toBe(0);
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
      const nearest = nearestText(['who directed it', 'when was it released'], hashedEncoder(64));
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
});
