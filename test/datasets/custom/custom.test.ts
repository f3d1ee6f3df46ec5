import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { importCustom } from '../../../datasets/custom/import.js';
import { readCustomQuestions } from '../../../datasets/custom/read-questions.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const json = (...lines: unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

async function imported(files: Record<string, string | Uint8Array>, labels = true) {
  const home = folderWith({});
  const manifest = await importCustom({ from: folderWith(files), home, labels });
  const dataset = loadQuestionDataset('custom', { home });
  return { manifest, dataset, graph: await dataset.loadGraph() };
}

const wheat = 'wheat\thas_pest\taphid\naphid\tkilled_by\tladybird\n';
const pests = { question: 'what kills the pests of [wheat]', answers: ['ladybird'] };

describe('importing your own triples and questions', () => {
  test('tab-separated triples; topics by brackets or by name, aliases, chain, truth', async () => {
    const { manifest, dataset, graph } = await imported({
      'triples.tsv': wheat,
      'questions.jsonl': json(
        {
          ...pests,
          aliases: { ladybird: ['ladybug'] },
          chain: ['has_pest', 'killed_by'],
          type: 'crop to enemy',
          hops: 2,
        },
        {
          id: 'mine',
          question: 'Wheat has pest aphid.',
          topics: ['wheat'],
          form: 'truth',
          truth: true,
          claimed: 'aphid',
        },
        { question: 'what about [rye]', answers: [] },
        { question: 'what kills [rye]', answers: ['frost'] },
      ),
    });
    expect(manifest).toMatchObject({
      graphs: { graph: { entities: 3, relations: 4, note: expect.stringContaining('inverses') } },
      subsets: {
        all: {
          files: { all: { questions: 3, dropped: { 'no answer': 1 }, topicsNotInGraph: 1, answersNotInGraph: 1 } },
        },
      },
    });
    const [first, second] = dataset.storedQuestions('all', 'all');
    expect(first).toEqual({
      id: 'q-0',
      question: 'what kills the pests of wheat',
      topics: [{ name: 'wheat', span: [24, 29] }],
      answers: [{ name: 'ladybird', aliases: ['ladybug'] }],
      chains: [['has_pest', 'killed_by']],
      type: 'crop to enemy',
      hops: 2,
    });
    expect(second).toMatchObject({
      id: 'mine',
      topics: [{ name: 'wheat', span: [0, 5] }],
      form: 'truth',
      claimed: 'aphid',
    });
    expect(graph.relationId('~killed_by')).toBeGreaterThanOrEqual(0);
  });

  test('triples with bars, and triples that bring their inverses', async () => {
    const bars = await imported({
      'triples.txt': '\na|r|b\r\n',
      'questions.jsonl': json({ question: '[a]?', answers: ['b'] }),
    });
    expect(bars.graph.entityNames).toEqual(['a', 'b']);
    const both = await imported({
      'triples.csv.gz': gzipSync('a\tr\tb\nb\t~r\ta\n'),
      'questions.jsonl': json({ question: '[a]?', answers: ['b'], chain: ['~r'] }),
    });
    expect([both.graph.relationNames, both.graph.numEdges]).toEqual([['r', '~r'], 2]);
  });

  test('named splits are files of the release', async () => {
    const { dataset } = await imported({
      'triples.tsv': wheat,
      'questions.jsonl': json({ ...pests, split: 'train' }, { ...pests, split: 'valid' }, { ...pests, split: 'valid' }),
    });
    expect(
      dataset
        .splits()
        .slice(0, 2)
        .map(({ name }) => name),
    ).toEqual(['train', 'valid']);
    expect(dataset.questions(await dataset.loadGraph())).toHaveLength(2);
  });

  test('N-Triples: labels are names and aliases, English before others; names in questions may be IRIs', async () => {
    const label = '<http://www.w3.org/2000/01/rdf-schema#label>';
    const alt = '<http://www.w3.org/2004/02/skos/core#altLabel>';
    const nt = [
      '# my farm',
      '<http://f/c1> <http://f/hasPest> <http://f/p1> .',
      `<http://f/c1> ${label} "Weizen"@de .`,
      `<http://f/c1> ${label} "wheat"@en .`,
      `<http://f/c1> ${alt} "Triticum" .`,
      `<http://f/p1> ${label} "aphid" .`,
      '<http://f/p1> <http://f/seen> "1999"^^<http://www.w3.org/2001/XMLSchema#gYear> .',
      '<http://f/p1> <http://f/note> " " .',
      '<http://f/p1> <http://f/eats> <http://f/leaves> .',
    ].join('\r\n');
    const questions = json(
      {
        question: 'what pests has wheat',
        topics: ['http://f/c1'],
        answers: ['<http://f/p1>', 'aphid'],
        chain: ['http://f/hasPest'],
      },
      { question: 'when was [aphid] seen', answers: ['1999'], chain: ['seen'] },
    );
    const { manifest, dataset, graph } = await imported({
      'triples.nt.gz': gzipSync(nt),
      'questions.jsonl': questions,
    });
    expect(graph.entityNames).toEqual(['wheat', 'aphid', '1999', 'leaves']);
    expect(graph.relationNames).toEqual(['hasPest', 'seen', 'eats', '~hasPest', '~seen', '~eats']);
    expect([...dataset.aliases(graph)]).toEqual([[0, ['Weizen', 'Triticum']]]);
    expect(manifest.graphs.graph!.note).toContain('1 blank literals left out');
    expect(dataset.storedQuestions('all', 'all')[0]).toMatchObject({
      topics: [{ name: 'wheat', span: [15, 20] }],
      answers: [{ name: 'aphid' }],
      chains: [['hasPest']],
    });
    const asEdges = await imported(
      { 'triples.nt': nt, 'questions.jsonl': json({ question: '[c1]', answers: ['p1'] }) },
      false,
    );
    expect(asEdges.graph.entityNames).toEqual(['c1', 'p1', 'Weizen', 'wheat', 'Triticum', 'aphid', '1999', 'leaves']);
  });

  test('every broken line of the questions is listed with what is wrong', async () => {
    const files = {
      'triples.tsv': wheat,
      'questions.jsonl': [
        json(pests).trim(),
        'not json',
        '[1]',
        '{"question": ""}',
        '{"question": "q", "answer": ["x"]}',
        '',
        '{"question": "q", "answers": ["x"], "chain": ["has_pests"]}',
        '{"question": "q", "answers": ["x"], "truth": true}',
        '{"id": "q-0", "question": "q", "answers": ["x"]}',
        '{"question": "q", "answers": ["x"], "split": "train"}',
        '{"question": "q", "answers": "x"}',
      ].join('\n'),
    };
    const error = await imported(files).catch((caught: unknown) => caught as WorkbenchError);
    const { message, code } = error as WorkbenchError;
    expect(code).toBe('data');
    expect(message).toMatch(/^9 broken lines:/);
    const problems = [
      /:2: expected a JSON object, got not json/,
      /:3: .*expected object/,
      /:4: question: /,
      /:5: .*answer/,
      /:7: expected a relation of the graph, got "has_pests"; did you mean "has_pest"\?/,
      /:8: a question has "truth" exactly where/,
      /:9: expected a unique id, got that of line 1/,
      /:10: expected "split" on every line or on none/,
      /:11: answers: /,
    ];
    for (const line of problems) expect(message).toMatch(line);
  });

  test('every broken line of the triples is listed; missing and empty files are errors', async () => {
    const questions = { 'questions.jsonl': json(pests) };
    await expect(imported({ 'triples.tsv': 'a\tr\tb\nx\ny\tr\t\n', ...questions })).rejects.toThrow(
      /2 broken lines:[^]*tsv:2[^]*tsv:3/,
    );
    await expect(imported({ 'triples.nt': '<a> <r> <b> .\n<a> <r>\n', ...questions })).rejects.toThrow(
      /nt:2: expected <subject>/,
    );
    await expect(imported({ 'triples.tsv': '', ...questions })).rejects.toThrow('expected triples, got none');
    await expect(imported({ 'triples.tsv': wheat })).rejects.toThrow('questions.jsonl');
    await expect(imported({ 'triples.tsv': wheat, 'questions.jsonl': '' })).rejects.toThrow(
      'expected questions, got none',
    );
    await expect(imported(questions)).rejects.toThrow('expected triples (triples.nt or');
  });

  test('questions fail only with expected errors, for any file content', () => {
    const builder = new GraphBuilder();
    builder.add('a', 'r', 'b');
    const graph = builder.build('graph');
    const file = join(folderWith({}), 'questions.jsonl');
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record(
          {
            id: fc.oneof(fc.string(), fc.integer()),
            question: fc.string(),
            topics: fc.array(fc.string()),
            answers: fc.array(fc.string()),
            aliases: fc.dictionary(fc.string(), fc.array(fc.string())),
            chain: fc.array(fc.constantFrom('r', '~r', '')),
            split: fc.constantFrom('train', 'a/b'),
            form: fc.constantFrom('truth', 'entities', 'other'),
            truth: fc.boolean(),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
        writeFileSync(file, lines.join('\n'));
        try {
          readCustomQuestions(file, { graph, resolve: (name) => name });
        } catch (error) {
          expect(error).toBeInstanceOf(WorkbenchError);
        }
      }),
      { numRuns: 300 },
    );
  });
});
