import { env } from 'node:process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { RelationRanker } from '../../../agents/question-agent.js';
import { questionAgents } from '../../../agents/question-agents.js';
import { openPrefilter } from '../../../agents/prompted/prefilter/prefilter.js';
import { loadRelationRanker } from '../../../agents/relation-walker/relation-walker-agent.js';
import type { QuestionTask } from '../../../datasets/question.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { noCounts, type StateEncoder } from '../../../src/encoder/state-encoder.js';
import { openQuestionAgent } from '../../../tasks/questions/agents.js';
import { openQuestionGraph } from '../../../tasks/questions/data.js';
import { finishedRun } from '../../fixtures/finished-run.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { graphOf } from '../../fixtures/toy-walks.js';
import { filmGraph, questionOf } from '../../fixtures/toy-questions.js';

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
    expect(() => questionAgents.parse('tog:prefilter=walkers')).toThrow('expected none, bm25, embedding or walker:RUN');
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
    const { ranker, close } = await loadRelationRanker(run, { dataset: 'films', graph: films }, { checkpoint: 'best' });
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
    const opening = () => loadRelationRanker(run, { dataset: 'songs', graph }, { checkpoint: 'best' });
    expect(opening).toThrow('expected a run of songs, got questions-run, which was trained on films');
  });

  test('is refused over another graph of the same name', async () => {
    const opening = loadRelationRanker(run, { dataset: 'films', graph: other() }, { checkpoint: 'best' });
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
const other = () => graphOf('films', [['alien', 'directed_by', 'scott']]);

test('embedding-walk follows the relation most similar to the question, for the given hops', async () => {
  const given = {
    ...{ dataset: 'films', graph, names: undefined as never, train: () => [], seed: 0 },
    ...resources(),
  };
  const agent = await questionAgents.create('embedding-walk', given);
  const session = { client: { byLikelihood: false } as never, trace: () => {} };
  const task: QuestionTask = questionOf(graph, 'q', 'year of what [nolan] directed', ['~directed_by', 'year'], []).task;
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
