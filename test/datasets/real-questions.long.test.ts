import { beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { importMetaQa } from '../../datasets/metaqa/import.js';
import { importPathQuestion } from '../../datasets/pathquestion/import.js';
import {
  type GoldChainScores,
  type QuestionStatistics,
  questionStatistics,
} from '../../datasets/questions/question-statistics.js';
import { loadQuestionDataset, type QuestionDataset } from '../../datasets/questions/question-dataset.js';
import { maskedQuestion } from '../../datasets/question.js';
import { executeChain } from '../../src/kg/frontier.js';
import type { Graph } from '../../src/kg/graph.js';
import { folderWith } from '../fixtures/tiny-release.js';

const shared = env.KGWALK_TEST_DATA;
if (!shared)
  stderr.write(
    'skipped: MetaQA and PathQuestion themselves (set KGWALK_TEST_DATA to the folder that holds data/metaqa)\n',
  );

const percents = ({ hit1, f1, exact }: GoldChainScores['rules']['stay']) =>
  [hit1, f1, exact].map((share) => Number((100 * share!).toFixed(2)));
const hops = ['1-hop', '2-hop', '3-hop'];

(shared ? describe : describe.skip)('MetaQA itself', () => {
  let dataset: QuestionDataset;
  let graph: Graph;
  let statistics: QuestionStatistics;

  beforeAll(async () => {
    const home = folderWith({});
    await importMetaQa({ from: join(shared ?? '', 'data', 'metaqa'), home });
    dataset = loadQuestionDataset('metaqa', { home });
    graph = await dataset.loadGraph();
    statistics = await questionStatistics(dataset);
  });

  test('has the known knowledge base', () => {
    expect(dataset.manifest.graphs.kb).toMatchObject({ entities: 43234, relations: 18, triples: 2 * 133582 });
    const plain = Array.from(graph.relationNames.keys()).filter(
      (relation) => !graph.relationNames[relation]!.startsWith('~'),
    );
    const isHead = new Uint8Array(graph.numEntities);
    const isTail = new Uint8Array(graph.numEntities);
    let loops = 0;
    let largest = 0;
    for (let head = 0; head < graph.numEntities; head++) {
      largest = Math.max(largest, graph.degree(head));
      for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
        if (!plain.includes(graph.relations[edge]!)) continue;
        const tail = graph.tails[edge]!;
        isHead[head] = isTail[tail] = 1;
        if (head === tail) loops++;
      }
    }
    const both = isHead.reduce((sum, head, entity) => sum + (head & isTail[entity]!), 0);
    expect({ loops, largest, both }).toEqual({ loops: 11, largest: 4176, both: 42 });
  });

  test('has the known questions, templates, types and answers', () => {
    const of = (pick: (subset: QuestionStatistics['subsets'][string]) => unknown) =>
      hops.map((subset) => pick(statistics.subsets[subset]!));
    expect(of(({ questions }) => questions)).toEqual([9992, 14872, 14274]);
    expect(of(({ templates }) => templates)).toEqual([158, 210, 150]);
    expect(of(({ types }) => types)).toEqual([13, 21, 15]);
    expect(of(({ answers }) => [answers.mean.toFixed(2), answers.median, answers.max])).toEqual([
      ['1.90', 1, 57],
      ['6.31', 2, 173],
      ['13.18', 6, 246],
    ]);
    expect(of(({ singleAnswer }) => (100 * singleAnswer!).toFixed(1))).toEqual(['67.2', '40.0', '16.8']);
    expect(of(({ topicsNotInGraph, answersNotInGraph }) => topicsNotInGraph + answersNotInGraph)).toEqual([0, 0, 0]);
    expect(of(({ reach }) => reach.within)).toMatchObject([{ 1: 1 }, { 1: 0, 2: 1 }, { 3: 1 }]);
  });

  test('gives the known gold-chain table, and the one chain that no-return empties', () => {
    const table = (rule: 'leave' | 'leave at the end') =>
      hops.map((subset) => percents(statistics.subsets[subset]!.chains.rules[rule]));
    expect(table('leave')).toEqual([
      [97.43, 98.15, 94.85],
      [99.99, 99.99, 99.99],
      [100, 100, 100],
    ]);
    expect(table('leave at the end')).toEqual([
      [97.43, 98.15, 94.85],
      [100, 100, 100],
      [83.59, 93.89, 52.45],
    ]);
    expect(hops.map((subset) => statistics.subsets[subset]!.chains.rules.leave.executable)).toEqual([
      1,
      14871 / 14872,
      1,
    ]);
    const { id, topics, chains } = dataset.storedQuestions('2-hop', 'dev')[1987]!;
    const start = topics.map(({ name }) => graph.entityId(name));
    const chain = chains![0]!.map((relation) => graph.relationId(relation));
    expect([id, topics[0]!.name]).toEqual(['2-1987', 'Malcolm X']);
    expect(executeChain(graph, start, chain).entities).toHaveLength(0);
    expect(executeChain(graph, start, chain, []).entities).not.toHaveLength(0);
  });

  test('is partitioned as known: questions, unseen templates, unseen types', () => {
    const sizes = (split: string) => hops.map((subset) => statistics.subsets[subset]!.splits[split]);
    const sum = (split: string) => sizes(split).reduce((total, size) => total! + size!, 0);
    expect([sum('dev-train'), sum('dev-valid'), sum('dev-test')]).toEqual([31276, 4002, 3860]);
    expect(sizes('dev-test')).toEqual([1062, 1430, 1368]);
    expect(sum('template-test')).toBe(7566);
    expect(sizes('type-test')).toEqual([0, 2518, 3306]);
    const stored = hops.flatMap((subset) => dataset.storedQuestions(subset, 'dev'));
    const templates = (split: string) => {
      const { has } = dataset.split({ split });
      return new Set(stored.filter((question) => has(question, 'dev')).map(maskedQuestion));
    };
    const unseen = templates('template-test');
    const known = templates('template-train');
    expect([unseen.size, [...unseen].some((template) => known.has(template))]).toEqual([103, false]);
  });
});

(shared ? describe : describe.skip)('PathQuestion itself', () => {
  test('has the known counts, and gold chains that hold where topics stay', async () => {
    const home = folderWith({});
    await importPathQuestion({ from: join(shared ?? '', 'data', 'pathquestion'), home });
    const dataset = loadQuestionDataset('pathquestion', { home });
    const { graphs, subsets } = await questionStatistics(dataset);
    expect(Object.values(graphs).map(({ triples }) => triples)).toEqual([2 * 1211, 2 * 2839]);
    expect(Object.values(subsets).map(({ questions, types }) => [questions, types])).toEqual([
      [1908, 39],
      [5198, 115],
    ]);
    const rules = Object.values(subsets).map(({ chains }) => chains.rules);
    expect(rules.map(({ stay }) => percents(stay))).toEqual([
      [100, 100, 100],
      [100, 100, 100],
    ]);
    expect(rules.map(({ leave }) => percents(leave)[0])).toEqual([93.87, 59.87]);
    await expect(dataset.loadGraph()).rejects.toThrow('expected subsets of one graph');
  });
});
