/** Bugs of StructGPT’s, KG-GPT’s and other systems’ kin, by their ids in the catalogue: what each would break here. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Agent } from '../../agents/agent.js';
import { executed } from '../../agents/prompted/self-veqa/chains.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { evaluationSettings } from '../../evaluation/settings.js';
import { executeChain } from '../../src/kg/frontier.js';
import { hitAtK, pathRanks, reciprocalRank, targetRanks } from '../../src/metrics/path-hits.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { evaluatedDialogues, evaluatedQuestions } from '../fixtures/evaluated.js';
import { agentOf, id, options, questionOf } from '../fixtures/toy-harbour.js';
import { graphOf, sampleOf } from '../fixtures/toy-walks.js';
import { finalEntities } from '../fixtures/final-entities.js';

test('B-KGGPT-1: two hops find every tail of every middle, not the first of each', async () => {
  const edges = fc.array(fc.tuple(fc.nat(4), fc.nat(6)), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(edges, edges, async (first, second) => {
      const graph = graphOf('fan', [
        ['topic', 'r', 'm0'],
        ...first.map(([m]) => ['topic', 'r', `m${m}`] as const),
        ...second.map(([m, t]) => [`m${m}`, 's', `t${t}`] as const),
      ]);
      const middles = new Set(['m0', ...first.map(([m]) => `m${m}`)]);
      const expected = [...new Set(second.filter(([m]) => middles.has(`m${m}`)).map(([, t]) => `t${t}`))].sort();
      const topic = graph.entityId('topic');
      const chain = [graph.relationId('r'), graph.relationId('s')];
      const names = (entities: Iterable<number>) => [...entities].map((entity) => graph.entityNames[entity]).sort();
      expect(names(executeChain(graph, [topic], chain).entities)).toEqual(expected);
      expect(names((await executed(graph, [topic], chain, [topic])).answers)).toEqual(expected);
    }),
    { numRuns: 50 },
  );
});

test('B-KGGPT-1, B-POG-1: questions of one text, or of one long beginning, are separate questions', async () => {
  const long = 'which of the ships '.repeat(30);
  const texts = ['who built it', 'who built it', `${long} is old`, `${long} is new`, '../up', 'a/b\u0000c'];
  const samples = texts.map((question, i) =>
    questionOf(`q${i}`, i % 2 ? 'Heron' : 'Lark', [i % 2 ? 'Ivo' : 'Ada'], { task: { question } }),
  );
  const builders = agentOf(({ topics }) => ({ entities: [id(topics[0]!.name === 'Heron' ? 'Ivo' : 'Ada')] }));
  const { rows, record } = await evaluatedQuestions(builders, samples, options);
  expect(rows.map((row) => row.id)).toEqual(samples.map(({ task }) => task.id));
  expect(record.n).toBe(6);
  expect(record.metrics['hit@1']).toMatchObject({ value: 1, n: 6 });
});

test('B-MHK-1: a gold that is ranked first counts in every figure', () => {
  const gold = [[0, 1, 10]] as const;
  const ranked = [
    { path: gold, logProb: -1 },
    { path: [[0, 1, 11]] as const, logProb: -2 },
  ];
  const { path, entityPath, relationPath } = pathRanks(ranked, gold, 99);
  const { target, summedTarget } = targetRanks(finalEntities(ranked, 0, 99), 10);
  for (const rank of [path, entityPath, relationPath, target, summedTarget]) {
    expect([rank, hitAtK(rank, 1), hitAtK(rank, 25), reciprocalRank(rank)]).toEqual([1, 1, 1, 1]);
  }
});

describe('B-CRUSE-1: an evaluation of dialogues', () => {
  const graph = graphOf('ships', [['Heron', 'built_by', 'Ivo']]);
  const gold = [['Heron', 'built_by', 'Ivo']] as const;
  const samples = Array.from({ length: 30 }, (_, i) => sampleOf(graph, `d${i}`, 'who built her', 'Heron', gold));
  const { path } = samples[0]!.gold;
  const right = {
    paths: [{ path, logProb: 0 }],
    answers: [{ entity: path[0]![2], logProb: 0, summedLogProb: 0 }],
    cost: {},
  };
  const failingOn = (fails: (task: WalkTask) => boolean, error: Error): Agent => ({
    name: 'toy',
    answer: (tasks) => (tasks.some(fails) ? Promise.reject(error) : Promise.resolve(tasks.map(() => right))),
  });
  const run = (agent: Agent) =>
    evaluatedDialogues(agent, samples, {
      graph,
      settings: evaluationSettings.parse({ resamples: 10, batchSize: 4 }),
      seenTargets: new Set(),
      about: { dataset: 'toy', split: 'valid', turns: 'all' },
    });

  test.each([
    ['a bug', new Error('no memory')],
    ['a prompt that does not fit', new WorkbenchError('data', 'expected a prompt of at most 70 tokens, got 90')],
    ['a request that fails', new WorkbenchError('failure', 'expected a reply, got none')],
  ])('counts %s as misses of its tasks', async (_, error) => {
    const { record, failures } = await run(failingOn(({ id: name }) => ['d3', 'd4', 'd17'].includes(name), error));
    expect(failures.map((failure) => failure.id)).toEqual(['d3', 'd4', 'd17']);
    expect(record).toMatchObject({ n: 30, misses: { 'agent-failed': 3 } });
    expect(record.metrics['path@1']).toMatchObject({ value: 27 / 30, n: 30 });
  });

  test('ends where task after task fails by something outside the agent', async () => {
    const away = new WorkbenchError('failure', 'expected a reply, got none');
    let calls = 0;
    const agent = failingOn(() => ++calls > 0, away);
    await expect(run(agent)).rejects.toBe(away);
    expect(calls).toBeLessThan(20);
    await expect(run(failingOn(() => true, new WorkbenchError('native', 'no backend')))).rejects.toThrow('no backend');
  });
});
