import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { importCustom } from '../../../datasets/custom/import.js';
import { readCustomQuestions } from '../../../datasets/custom/read-questions.js';
import { checkQuestionDataset, loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
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

  const n = (name: string) => `<http://n/${name}>`;
  const label = '<http://www.w3.org/2000/01/rdf-schema#label>';
  test.each<[what: string, statements: string[]]>([
    ['English first, then its variants, then no language', ['"Pariz"@enm', '"PARIS"@en-gb', '"Parigi"', '"Paris"@en']],
    ['a property that is an edge as well', ['"Paris"@en']],
  ])('an entity keeps its name before a literal, and its aliases find it: %s', async (_, names) => {
    const property = names.length > 1 ? label : '<http://schema.org/name>';
    const { manifest, dataset, graph } = await imported({
      'triples.nt': [
        ...names.map((name) => `${n('Q90')} ${property} ${name} .`),
        `${n('Q90')} ${n('title')} "Paris" .`,
        `${n('Q90')} ${n('in')} ${n('Q142')} .`,
        `${n('Q142')} ${label} "France"@fr .`,
        `${n('Q142')} ${label} "Francia"@it .`,
        `${n('Q3')} ${label} "Frank"@en .`,
        `${n('Q3')} ${label} "FRANCIA"@es .`,
        `${n('Q3')} ${n('in')} ${n('Q142')} .`,
      ].join('\n'),
      'questions.jsonl': json({ question: 'where is [paris]', answers: ['Francia'], chain: ['in'] }),
    });
    expect(graph.entityNames.slice(0, 3).sort()).toEqual(['France', 'Paris', 'Paris (text)']);
    expect(dataset.storedQuestions('all', 'all')[0]).toMatchObject({
      topics: [{ name: 'Paris', span: [9, 14] }],
      answers: [{ name: 'France' }],
    });
    expect(manifest.graphs.graph!.note).toContain("1 literals have the text of an entity's name");
    expect(manifest.notes).toEqual([
      expect.stringContaining('found by an alias or another spelling, 2: "paris → Paris", "Francia → France"'),
    ]);
  });

  test('names that are found by another spelling, by nothing, of several entities, or look alike are told', async () => {
    const { manifest, dataset } = await imported({
      'triples.tsv':
        'Chef Émile\tcooks\tsoup\nChef Émile\tcooks\tsoup\nPlum\tin\tplum\nsoup \tin\tCafe\u0301\nCaf\u00e9\tin\tCafe\u0301\n',
      'questions.jsonl': json({ question: 'what does [Chef Emile] cook', answers: ['soap', 'PLUM'] }),
    });
    expect(dataset.storedQuestions('all', 'all')[0]!.topics).toEqual([{ name: 'Chef Émile', span: [10, 20] }]);
    expect(manifest.graphs.graph!.note).toContain('1 repeated line merged');
    expect(manifest.notes).toEqual([
      'names in questions that were found by an alias or another spelling, 1: "Chef Emile → Chef Émile"',
      expect.stringContaining('that several entities have, which count as not in the graph, 1: "PLUM → Plum or plum"'),
      expect.stringMatching(
        /^4 names of entities differ from another only by white space.*"soup ", "soup".*"Cafe\\u0301"/,
      ),
      'answers not in graph graph, 2 names: "soap" (nearest: "soup"), "PLUM" (nearest: "Plum")',
    ]);
  });

  test('broken lines are left out and counted by reason if asked', async () => {
    const files = {
      'triples.nt': '<a> <r> <b> .\n<a> <r>\n<a b> <r> <c> .\n<c> <r> <d> .\n',
      'questions.jsonl': `${json({ question: '[a]?', answers: ['b'] })}{\n`,
    };
    const home = folderWith({});
    const { notes } = await importCustom({ from: folderWith(files), home, skipBroken: true });
    expect(notes).toEqual([
      'triples.nt: 2 broken lines left out: 2 expected <subject> <predicate> <object> or "literal", then a dot (the first: line 2)',
      'questions.jsonl: 1 broken line left out: 1 expected a JSON object (the first: line 2)',
    ]);
  });

  test('questions of one text share a partition, are counted, and found in two files', async () => {
    const question = (i: number) => ({
      id: `q${i}`,
      question: `who eats [wheat]${i % 2 ? ' ?' : ''}`,
      answers: ['aphid'],
    });
    const files = {
      'triples.tsv': wheat,
      'questions.jsonl': json(...Array.from({ length: 30 }, (_, i) => question(i))),
    };
    const { manifest, dataset, graph } = await imported(files);
    const counts = ['train', 'valid', 'test'].map((split) => dataset.questions(graph, { split }).length);
    expect(counts.sort()).toEqual([0, 0, 30]);
    expect(manifest.notes).toEqual([
      expect.stringMatching(/^29 questions repeat the text of an earlier one.*"who eats wheat"/),
    ]);
    const split = {
      'triples.tsv': wheat,
      'questions.jsonl': json({ ...pests, split: 'train' }, { ...pests, split: 'test' }),
    };
    const home = folderWith({});
    const { notes } = await importCustom({ from: folderWith(split), home });
    const shared = '1 text is in both train-valid and test: "what kills the pests of wheat"';
    expect(notes).toContain(shared);
    const checked = await checkQuestionDataset('custom', { home });
    expect(checked).toMatchObject({ problems: [], notes: [expect.stringContaining('and test: "what kills')] });
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
    await expect(imported({ 'triples.tsv': wheat })).rejects.toMatchObject({
      message: expect.stringContaining('questions.jsonl'),
      hint: expect.stringContaining('datasets import triples --from'),
    });
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
