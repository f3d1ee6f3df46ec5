import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { datasetKind } from '../../../datasets/imported-dataset.js';
import { importMetaQa } from '../../../datasets/metaqa/import.js';
import { importOpenDialKg } from '../../../datasets/opendialkg/import.js';
import {
  checkQuestionDataset,
  loadQuestionDataset,
  parseDatasetName,
} from '../../../datasets/questions/question-dataset.js';
import { type QuestionDatasetParts, writeQuestionDataset } from '../../../datasets/questions/write-question-dataset.js';
import { listDatasets } from '../../../datasets/dataset.js';
import { loadDialogueDataset } from '../../../datasets/dialogues/dialogue-dataset.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { folderWith, releaseFiles } from '../../fixtures/tiny-release.js';
import { tinyMetaQa } from '../../fixtures/tiny-questions.js';

let home: string;
beforeEach(() => {
  home = folderWith({});
});

function parts(name: string): QuestionDatasetParts {
  const builder = new GraphBuilder();
  builder.add('Oslo', 'in', 'Norway');
  const graph = builder.build('map', { addInverses: true });
  const question = {
    id: 'a',
    question: 'where is Oslo',
    topics: [{ name: 'Oslo', span: [9, 13] as const }],
    answers: [{ name: 'Norway', aliases: ['Norge'] }],
    chains: [['in'], ['lost']],
  };
  const truth = {
    id: 'b',
    question: 'Lund is in Norway',
    topics: [{ name: 'Lund' }],
    answers: [],
    form: 'truth' as const,
    truth: false,
    claimed: 'Norway',
  };
  return {
    name,
    format: 'toy',
    licence: 'none',
    labels: ['generated'],
    graphs: [{ graph, note: 'toy' }],
    subsets: [
      { name: 'all', graph: 'map', files: { test: { questions: [question, truth], dropped: { 'no answer': 3 } } } },
    ],
    aliases: new Map([['Norway', ['Norge', 'Noreg']]]),
    sources: [],
  };
}

describe('a question data set', () => {
  test('is stored by name and read with the ids of its graph', async () => {
    const manifest = await writeQuestionDataset(parts('toy'), home);
    expect(manifest.subsets.all!.files.test).toEqual({
      questions: 2,
      dropped: { 'no answer': 3 },
      topicsNotInGraph: 1,
      answersNotInGraph: 0,
    });
    const dataset = loadQuestionDataset('toy', { home });
    const graph = await dataset.loadGraph();
    const found = ['train', 'valid', 'test'].flatMap((split) => dataset.questions(graph, { split }));
    expect(found.toSorted((a, b) => (a.task.id < b.task.id ? -1 : 1))).toEqual([
      {
        task: {
          id: 'a',
          subset: 'all',
          question: 'where is Oslo',
          topics: [{ name: 'Oslo', span: [9, 13], entity: 0 }],
          form: 'entities',
        },
        gold: { answers: [{ name: 'Norway', aliases: ['Norge'], entity: 1 }], chains: [[0]] },
      },
      {
        task: {
          id: 'b',
          subset: 'all',
          question: 'Lund is in Norway',
          topics: [{ name: 'Lund', entity: -1 }],
          form: 'truth',
        },
        gold: { answers: [], truth: false, claimed: 1, chains: [] },
      },
    ]);
    expect([...dataset.aliases(graph)]).toEqual([[1, ['Norge', 'Noreg']]]);
    expect(listDatasets(['questions'], { home })).toEqual([manifest]);
  });

  test('is no data set of dialogues, and the other way round', async () => {
    await writeQuestionDataset(parts('toy'), home);
    await importOpenDialKg({ from: folderWith(releaseFiles), home });
    expect([datasetKind('toy', { home }), datasetKind('opendialkg', { home })]).toEqual(['questions', 'dialogues']);
    expect(() => loadDialogueDataset('toy', { home })).toThrow(
      'expected a data set of dialogues, got "toy" of questions',
    );
    expect(() => loadQuestionDataset('opendialkg', { home })).toThrow('expected a data set of questions');
    expect(
      (['dialogues', 'questions'] as const).map((kind) => listDatasets([kind], { home }).map(({ name }) => name)),
    ).toEqual([['opendialkg'], ['toy']]);
  });

  test('with ids that repeat, a place outside its question, or no question is refused and leaves nothing', async () => {
    const good = parts('toy');
    const { questions } = good.subsets[0]!.files.test!;
    const withQuestions = (...changed: typeof questions) =>
      writeQuestionDataset(
        { ...good, subsets: [{ name: 'all', graph: 'map', files: { test: { questions: changed } } }] },
        home,
      );
    await expect(withQuestions(questions[0]!, questions[0]!)).rejects.toThrow(
      'ids that differ, got one twice, at question "a"',
    );
    const outside = { ...questions[0]!, topics: [{ name: 'Oslo', span: [10, 14] as const }] };
    await expect(withQuestions(outside)).rejects.toThrow('got [10, 14)');
    await expect(withQuestions()).rejects.toMatchObject({ code: 'data' });
    expect(() => datasetKind('toy', { home })).toThrow('expected an imported data set');
  });

  test('says which subset or split it lacks, and refuses another graph', async () => {
    await importMetaQa({ from: folderWith(tinyMetaQa), home });
    const dataset = loadQuestionDataset('metaqa', { home });
    const graph = await dataset.loadGraph(['1-hop']);
    expect(() => dataset.questions(graph, { subsets: ['4-hop'] })).toThrow(
      'expected a subset of metaqa (1-hop, 2-hop), got "4-hop"',
    );
    expect(() => dataset.questions(graph, { split: 'tset' })).toThrow('dev-valid, dev-test, template-train');
    const other = new GraphBuilder();
    other.add('a', 'r', 'b');
    expect(() => dataset.questions(other.build('kb'))).toThrow('expected the graph of metaqa');
    expect(parseDatasetName('metaqa/1-hop,2-hop')).toEqual({ name: 'metaqa', subsets: ['1-hop', '2-hop'] });
    expect(parseDatasetName('metaqa')).toEqual({ name: 'metaqa' });
  });

  test('that was altered is found out', async () => {
    await importMetaQa({ from: folderWith(tinyMetaQa), home });
    const dataset = loadQuestionDataset('metaqa', { home });
    expect(await checkQuestionDataset('metaqa', { home })).toMatchObject({ problems: [] });
    const file = join(dataset.folder, 'questions.2-hop.dev.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('acts', 'acted'));
    expect(await checkQuestionDataset('metaqa', { home })).toMatchObject({
      problems: [`${file} was altered: its sha256 differs from the manifest`],
    });
    writeFileSync(file, '{"id": \n');
    const graph = await dataset.loadGraph();
    expect(() => dataset.questions(graph, { split: 'dev-train' })).toThrow(
      /got an altered one, at .*questions\.2-hop\.dev\.jsonl/,
    );
  });
});
