import { env } from 'node:process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { openPrefilter } from '../../../agents/prompted/prefilter/prefilter.js';
import type { RankedWalk, RelationRanker } from '../../../agents/question-agent.js';
import { questionAgents } from '../../../agents/question-agents.js';
import { loadRelationRanker } from '../../../agents/relation-walker/agent.js';
import type { QuestionSample, QuestionTask } from '../../../datasets/question.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { openOracle } from '../../../evaluation/oracle/open-oracle.js';
import { type StateEncoder, noCounts } from '../../../src/encoder/state-encoder.js';
import { openCompletionStore } from '../../../src/llm/client/completion-store.js';
import { createClients } from '../../../src/llm/client/create-clients.js';
import type { Decision } from '../../../src/llm/decision.js';
import { openQuestionAgent } from '../../../tasks/questions/agents.js';
import { openQuestionGraph } from '../../../tasks/questions/data.js';
import { finishedRun } from '../../fixtures/finished-run.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { filmGraph, questionOf } from '../../fixtures/toy-questions.js';
import { graphOf as graphOfTriples } from '../../fixtures/toy-walks.js';
import { type Ways, graphOf, resourcesOf, townAsker, townFacts } from './clock-town.js';

const graph = graphOf(townFacts);
const chain = (...names: string[]) => names.map((name) => graph.relationId(name));
const right = { relations: chain('~purchased_by', 'repaired_by'), probability: 0.6 };
const wrong = { relations: chain('~purchased_by', 'stands_in'), probability: 0.3 };

/** Takes the judged walk that ends in `repaired_by`, and answers with every tail of that relation. */
const judge = (decision: Decision) => {
  if (decision.kind === 'judge') {
    const choice = decision.candidates.findIndex(({ text }) => text.endsWith('repaired_by'));
    return { choice, reason: '', answers: [] };
  }
  const repairers = decision.evidence.filter(([, relation]) => relation === 'repaired_by').map(([, , tail]) => tail);
  return { answers: [...new Set(repairers)] };
};

const readerAsk = townAsker('reader', { hops: 2 });

async function ask(
  walks: readonly RankedWalk[],
  { script = judge, ...ways }: Ways & { script?: (decision: Decision) => unknown } = {},
) {
  const counts: (number | undefined)[][] = [];
  const ranker = {
    prepare: () => Promise.resolve(),
    shares: () => Promise.resolve(undefined),
    walks(_: unknown, count: number, hops?: number) {
      counts.push([count, hops]);
      return Promise.resolve(walks.slice(0, count));
    },
  };
  const resources = { walker: () => Promise.resolve(ranker) };
  return { ...(await readerAsk(script, { resources, walker: 'any', ...ways })), counts };
}

test('the model reads what lies on the walker’s walks, in one call', async () => {
  const { answer, names, asked, counts } = await ask([wrong, right], { beams: 2 });
  expect(asked.map(({ phase }) => phase)).toEqual(['answer']);
  expect(asked[0]!.evidence).toContainEqual(['Tower Clock', 'repaired_by', 'Mia Kop']);
  expect(asked[0]!.evidence).toContainEqual(['Tower Clock', 'stands_in', 'Vell']);
  expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  expect(answer).toMatchObject({ stop: 'answered', degraded: false, confidence: wrong.probability });
  expect(counts).toEqual([[2, 2]]);
  expect((await ask([right], { hops: 'none' })).counts).toEqual([[3, undefined]]);
});

test('a walker trained with given hops uses them under every switch, and the reader says so', async () => {
  const sourceOf = async (hopsGiven: boolean, switches = {}) => {
    const ranker = { hopsGiven, prepare: async () => {}, shares: async () => undefined, walks: async () => [] };
    const resources = { ...resourcesOf(graph), walker: () => Promise.resolve(ranker) };
    return (await questionAgents.create('reader', resources, { walker: 'any', ...switches })).hopSource?.(false);
  };
  expect(await sourceOf(true, { hops: 'none' })).toBe('given');
  expect(await sourceOf(false, { hops: 'none' })).toBe('none');
});

test.each([
  [{ answers: 'frontier' }, false],
  [{}, true],
])('or judges which walk answers, and everything behind that is the answer: %o, by likelihood %s', async (set, by) => {
  const { answer, names, asked } = await ask([wrong, right], { ...set, byLikelihood: by });
  expect(asked.map(({ phase, kind }) => [phase, kind])).toEqual([['walk', 'judge']]);
  expect(names).toEqual(['Jon Weil', 'Mia Kop']);
  expect(answer).toMatchObject({ stop: 'frontier', chain: right.relations, degraded: false, confidence: 0.6 });
});

test('one walk needs no judge, and so much probability is enough', async () => {
  const alone = await ask([right], { answers: 'frontier' });
  expect([alone.asked.length, alone.names]).toEqual([0, ['Jon Weil', 'Mia Kop']]);
  const sure = await ask([right, wrong], { answers: 'frontier', mass: 0.6 });
  expect([sure.asked.length, sure.names]).toEqual([0, ['Jon Weil', 'Mia Kop']]);
  expect((await ask([right, wrong], { answers: 'frontier', mass: 0.61 })).asked).toHaveLength(1);
});

test('answers nothing without a topic, without a way, or without a call left', async () => {
  expect((await ask([right], { change: { topics: [] } })).answer).toMatchObject({ stop: 'no-topic', entities: [] });
  expect((await ask([])).answer).toMatchObject({ stop: 'no-way', entities: [] });
  const spent = await ask([right], { budget: 0 });
  expect([spent.answer.stop, spent.answer.entities, spent.asked.length]).toEqual(['budget', [], 0]);
});

test('a reply that cannot be read is marked, and the walker’s first walk stands where walks are judged', async () => {
  const script = () => undefined;
  expect((await ask([right], { script })).answer).toMatchObject({ stop: 'unparsed', degraded: true, entities: [] });
  const judged = await ask([right, wrong], { answers: 'frontier', script });
  expect(judged.answer).toMatchObject({ stop: 'frontier', degraded: true, chain: right.relations });
});

test('a hub’s facts are limited, its answers are not', async () => {
  const facts = Array.from({ length: 400 }, (_, i) => [`Clock ${i}`, 'purchased_by', 'Orla Brandt'] as const);
  const walk = { relations: [graphOf(facts).relationId('~purchased_by')], probability: 1 };
  const script = ({ evidence }: Decision) => ({ answers: [evidence[0]![0]] });
  for (const [answers, entities] of [
    ['model', 1],
    ['frontier', 400],
  ] as const) {
    const { answer, asked } = await ask([walk], { facts, script, answers });
    expect(answer.entities).toHaveLength(entities);
    for (const { evidence } of asked) expect(evidence).toHaveLength(60);
  }
});

describe('a trained walker', () => {
  const flags = { checkpoint: 'best', set: [], modelSet: [] };
  const options = { seed: 0, encoder: undefined, flags };
  let run: string;
  beforeAll(async () => {
    env.KGWALK_HOME = folderWith({});
    run = await finishedRun('questions');
  });
  /** Number of valid questions that the simulated model, which never errs, answers exactly, and of calls. */
  async function oracleRun(choices: 'written' | 'likelihood', switches = {}) {
    const data = await openQuestionGraph('films');
    const { dataset, graph: films } = data;
    const samples: QuestionSample[] = [...dataset.questions(films, { subsets: dataset.subsets, split: 'valid' })];
    const named = { name: 'reader', agent: 'reader', switches: { walker: run, ...switches } };
    const { agent, close } = await openQuestionAgent(named, data, options);
    const store = openCompletionStore(`${env.KGWALK_HOME}/${choices}.jsonl`);
    const model = openOracle({ graph: films, samples, error: 0, seed: 3 });
    const clients = createClients({ model, store, budget: 30, budgetMode: 'strict', seed: 0, choices });
    await agent.prepare!(samples.map(({ task }) => task));
    let complete = 0;
    let calls = 0;
    for (const { task, gold } of samples) {
      const { client, totals } = clients.clientFor(task.id);
      const { entities } = await agent.answer(task, { client, trace: () => {} });
      const golds = new Set(gold.answers.map(({ entity }) => entity));
      if (entities.length === golds.size && entities.every((entity) => golds.has(entity))) complete++;
      calls += totals().calls;
    }
    await store.close();
    await close();
    return { complete, calls, of: samples.length };
  }

  test.each(['written', 'likelihood'] as const)(
    'is read by a model that never errs: every question, in one call where there is anything to say, %s',
    async (choices) => {
      const { complete, calls, of } = await oracleRun(choices);
      expect(of).toBeGreaterThan(5);
      expect(complete).toBe(of);
      // One question has a single walk of its length.
      expect(calls).toBe(choices === 'written' ? of : of - 1);
    },
  );

  test('its own beam is followed: of one walk nothing is left to judge', async () => {
    const { complete, calls, of } = await oracleRun('likelihood', { beams: 1 });
    expect([complete, calls]).toEqual([of, 0]);
  });

  test('walks the given length, which training did not have', async () => {
    const dataset = loadQuestionDataset('films');
    const films = await dataset.loadGraph(dataset.subsets);
    const { ranker, close } = await loadRelationRanker(
      { folder: run, checkpoint: 'best' },
      { dataset: 'films', graph: films },
      {},
    );
    const [{ task }] = dataset.questions(films, { subsets: ['2-hop'], split: 'valid' }) as [QuestionSample];
    const lengths = async (hops?: number) =>
      (await ranker.walks(task, 4, hops)).map(({ relations }) => relations.length);
    // Shorter ones are dead ends.
    expect(Math.max(...(await lengths(2)))).toBe(2);
    expect(new Set(await lengths(1))).toEqual(new Set([1]));
    expect(new Set(await lengths()).size).toBeGreaterThan(1);
    const probabilities = (await ranker.walks(task, 4, 2)).map(({ probability }) => probability);
    expect(probabilities).toEqual(probabilities.toSorted((a, b) => b - a));
    await close();
  });

  test('is refused where there is none, before anything is asked', async () => {
    const data = await openQuestionGraph('films');
    const opening = openQuestionAgent({ name: 'reader', agent: 'reader', switches: {} }, data, options);
    await expect(opening).rejects.toThrow('expected the run of a trained walker, got none, at walker of reader');
  });

  test('programs without runs get an error', async () => {
    await expect(questionAgents.create('reader', resourcesOf(graph), { walker: 'x' })).rejects.toThrow(
      'expected resources that open runs, got none for x',
    );
  });
});

describe('as a pre-filter', () => {
  const graph = filmGraph();
  const ids = (...names: string[]) => names.map((name) => graph.relationId(name));
  const named = (relations: readonly number[]) => relations.map((relation) => graph.relationNames[relation]!);
  const directed = questionOf(graph, 'q', 'who directed by year [starring]', [], []).task;

  /** Axes of words: a text's vector counts them, so that similarities can be computed by hand. */
  function wordEncoder(seen: string[] = []): StateEncoder {
    const axes = ['directed', 'year', 'starring'];
    return {
      ...{ id: 'axes', name: 'axes', dim: axes.length, counters: noCounts() },
      encode(texts) {
        seen.push(...texts);
        const matrix = Float32Array.from(texts.flatMap((text) => axes.map((axis) => Number(text.includes(axis)))));
        return Promise.resolve({ matrix, rows: Int32Array.from(texts.keys()), dim: axes.length });
      },
      held: (texts) => new Uint8Array(texts.length),
      countTokens: (texts) => Promise.resolve(new Int32Array(texts.length)),
      dispose: () => Promise.resolve(),
    };
  }
  const resources = (encoder = wordEncoder()) => ({ graph, encoder: () => Promise.resolve(encoder) });
  const all = { keep: 10, mass: 1 };

  describe('the pre-filter', () => {
    test('keeps everything without a ranking', async () => {
      const { keep } = await openPrefilter(resources(), { prefilter: 'none', keep: 1, mass: 0.1 });
      expect(await keep(directed, [], ids('year', 'directed_by'))).toEqual(ids('year', 'directed_by'));
      expect(await keep(directed, [], [])).toEqual([]);
    });

    test.each(['embedding', 'bm25'])(
      'masks the topic, whose name would draw a relation to itself: %s',
      async (prefilter) => {
        const seen: string[] = [];
        const { rank } = await openPrefilter(resources(wordEncoder(seen)), { prefilter, ...all });
        const ranked = await rank(directed, [], ids('starring', 'directed_by'));
        expect(named(ranked.map(({ relation }) => relation))).toEqual(['directed_by', 'starring']);
        expect(ranked.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
        if (prefilter === 'embedding') expect(seen).toContain('who directed by year [E]');
      },
    );

    test('takes likeness to the relation walked off: what it asked for has been answered', async () => {
      const { keep } = await openPrefilter(resources(), { prefilter: 'embedding', ...all });
      const onward = ids('~directed_by', 'year');
      expect(named(await keep(directed, [], onward))).toEqual(['~directed_by', 'year']);
      expect(named(await keep(directed, ids('directed_by'), onward))).toEqual(['year', '~directed_by']);
    });

    test('keeps so many, and of those as many as have the mass, one at least', async () => {
      const shares: RelationRanker['shares'] = () => Promise.resolve(Float64Array.of(0.1, 0.6, 0.3));
      const walker = () =>
        Promise.resolve({ prepare: () => Promise.resolve(), shares, walks: () => Promise.resolve([]) });
      const relations = ids('year', 'directed_by', 'starring');
      const kept = async (keep: number, mass: number) => {
        const prefilter = await openPrefilter({ ...resources(), walker }, { prefilter: 'walker:any', keep, mass });
        return named(await prefilter.keep(directed, [], relations));
      };
      expect(await kept(10, 1)).toEqual(['directed_by', 'starring', 'year']);
      expect(await kept(2, 1)).toEqual(['directed_by', 'starring']);
      expect(await kept(10, 0.6)).toEqual(['directed_by']);
      expect(await kept(10, 0.61)).toEqual(['directed_by', 'starring']);
      expect(await kept(10, 0.01)).toEqual(['directed_by']);
    });

    test('ranks no single relation, and keeps all if the walker ends here', async () => {
      let asked = 0;
      const shares: RelationRanker['shares'] = () => Promise.resolve(void asked++ as undefined);
      const walker = () =>
        Promise.resolve({ prepare: () => Promise.resolve(), shares, walks: () => Promise.resolve([]) });
      const prefilter = await openPrefilter({ ...resources(), walker }, { prefilter: 'walker:any', keep: 1, mass: 1 });
      expect(await prefilter.keep(directed, [], ids('year'))).toEqual(ids('year'));
      expect(asked).toBe(0);
      expect(await prefilter.keep(directed, ids('year'), ids('year', 'starring'))).toEqual(ids('year', 'starring'));
      expect(asked).toBe(1);
    });

    test('is a switch whose value may name a run', () => {
      const read = questionAgents.parse('tog:prefilter=walker:runs/metaqa,keep=2');
      expect(read).toEqual({ agent: 'tog', switches: { prefilter: 'walker:runs/metaqa', keep: 2 } });
      expect(() => questionAgents.parse('tog:prefilter=walkers')).toThrow(
        'expected none, bm25, embedding or walker:RUN',
      );
      expect(() => questionAgents.parse('tog:keep=0')).toThrow('keep');
    });

    test('says that a program without runs has no walkers', async () => {
      const opening = openPrefilter(resources(), { prefilter: 'walker:runs/x', ...all });
      await expect(opening).rejects.toThrow('expected a pre-filter that needs no run, got walker:runs/x');
    });
  });

  describe('a trained walker as a pre-filter', () => {
    let run: string;
    beforeAll(async () => {
      env.KGWALK_HOME = folderWith({});
      run = await finishedRun('questions');
    });
    test('ranks what it learned first, from the relations walked and the question alone', async () => {
      const dataset = loadQuestionDataset('films');
      const films = await dataset.loadGraph(dataset.subsets);
      const { ranker, close } = await loadRelationRanker(
        { folder: run, checkpoint: 'best' },
        { dataset: 'films', graph: films },
        {},
      );
      for (const { task, gold } of dataset.questions(films, { subsets: ['2-hop'], split: 'valid' })) {
        const [chain] = gold.chains;
        const relations = Array.from({ length: films.numRelations }, (_, i) => i);
        const shares = (await ranker.shares(task, [chain![0]!], relations))!;
        expect(shares.indexOf(Math.max(...shares))).toBe(chain![1]);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 5);
        expect(await ranker.shares(task, [0, 0, 0], relations)).toBeUndefined();
      }
      await close();
    });

    test('is refused where it was trained on another data set: both are named', () => {
      const opening = () => loadRelationRanker({ folder: run, checkpoint: 'best' }, { dataset: 'songs', graph }, {});
      expect(opening).toThrow('expected a run of songs, got questions-run, which was trained on films');
    });

    test('is refused over another graph of the same name', async () => {
      const opening = loadRelationRanker({ folder: run, checkpoint: 'best' }, { dataset: 'films', graph: other() }, {});
      await expect(opening).rejects.toThrow('expected a checkpoint of graph');
    });

    test('its checkpoint stands among the hashes of the evaluation: another one is another evaluation', async () => {
      const data = await openQuestionGraph('films');
      const flags = { checkpoint: 'best', set: [], modelSet: [] };
      const opened = async (name: string) => {
        const switches = { prefilter: `walker:${name}`, keep: 2 };
        const options = { seed: 0, encoder: undefined, flags };
        const { hashes, close } = await openQuestionAgent({ name, agent: 'tog', switches }, data, options);
        await close();
        return hashes;
      };
      const best = (await opened(run)).walker;
      expect(best).toMatch(/^[0-9a-f]{64}$/);
      expect((await opened(`${run}@ppo-000018`)).walker).not.toBe(best);
      await expect(opened('nowhere')).rejects.toThrow('expected the name or folder of a run, got "nowhere", at walker');
    });
  });

  /** The films with one more. */
  const other = () => graphOfTriples('films', [['alien', 'directed_by', 'scott']]);

  test('embedding-walk follows the relation most similar to the question, for the given hops', async () => {
    const given = {
      ...{ dataset: 'films', graph, names: undefined as never, train: () => [], seed: 0 },
      ...resources(),
    };
    const agent = await questionAgents.create('embedding-walk', given);
    const session = { client: { byLikelihood: false } as never, trace: () => {} };
    const task: QuestionTask = questionOf(
      graph,
      'q',
      'year of what [nolan] directed',
      ['~directed_by', 'year'],
      [],
    ).task;
    const { chain, entities, stop, confidence, cost } = await agent.answer(task, session);
    const byWords = await questionAgents.create('embedding-walk', given, { source: 'bm25' });
    expect([cost.encodes, (await byWords.answer(task, session)).cost.encodes]).toEqual([1, 0]);
    expect(named(chain!)).toEqual(['~directed_by', 'year']);
    expect(entities.map((entity) => graph.entityNames[entity])).toEqual(['2010', '2020', '2017']);
    expect(stop).toBe('stop');
    expect(confidence).toBeGreaterThan(0);
    const nowhere = { ...task, topics: [{ name: 'x', entity: -1 }] };
    expect(await agent.answer(nowhere, session)).toMatchObject({ stop: 'no topic', entities: [] });
  });
});
