import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { rog } from '../../../datasets/rog/import.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const row = (id: string, more = {}) => ({
  ...{ id, question: 'which country is lyon in', answer: ['France'], q_entity: ['Lyon'], a_entity: ['France'] },
  graph: [
    ['Lyon', 'location.country', 'm.0x1'],
    ['m.0x1', 'name', 'France'],
  ],
  choices: [],
  ...more,
});
const json = (...rows: unknown[]) => rows.map((one) => `${JSON.stringify(one)}\n`).join('');

test('rows of RoG: the union of their graphs, shards by split, answers by name', async () => {
  const from = folderWith({
    'train-00000-of-00002.jsonl': json(row('a')),
    'train-00001-of-00002.jsonl.gz': gzipSync(
      json(row('b', { graph: [['Paris', 'in', 'France']], q_entity: ['Paris'] })),
    ),
    'validation.jsonl': json(row('c', { answer: [] }), row('d', { question: 'x', answer: ['Nowhere'] })),
    'test.jsonl': `${json(row('e'))}{"id": "f"}\n`,
  });
  await expect(rog.import({ from, home: folderWith({}) })).rejects.toThrow(/test\.jsonl:2: question: /);
  const home = folderWith({});
  const manifest = (await rog.import({ from, home, skipBroken: true })) as { subsets: object; notes: string[] };
  expect(manifest.subsets).toMatchObject({
    all: {
      files: { train: { questions: 2 }, valid: { questions: 1, dropped: { 'no answer': 1 }, answersNotInGraph: 1 } },
    },
  });
  expect(manifest.notes[0]).toContain('test.jsonl: 1 broken line left out');
  const dataset = loadQuestionDataset('rog', { home });
  const graph = await dataset.loadGraph();
  expect([graph.numEntities, graph.relationNames.length]).toEqual([4, 6]);
  expect(dataset.storedQuestions('all', 'test')).toMatchObject([
    { id: 'e', topics: [{ name: 'Lyon', span: [17, 21] }], answers: [{ name: 'France' }] },
  ]);
  const packed = folderWith({ 'train-0.parquet': 'PAR1' });
  await expect(rog.import({ from: packed, home })).rejects.toMatchObject({
    hint: expect.stringContaining('read_parquet'),
  });
});
