import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chainOfType, heldTypes, importMetaQa, readMetaQaQuestions } from '../../../datasets/metaqa/import.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { folderWith } from '../../fixtures/tiny-release.js';
import { tinyMetaQa } from '../../fixtures/tiny-questions.js';

describe('question types', () => {
  test('become relations, backwards towards a film', () => {
    expect(chainOfType('actor_to_movie_to_year')).toEqual(['~starred_actors', 'release_year']);
    expect(chainOfType('movie_to_writer_to_movie_to_language')).toEqual(['written_by', '~written_by', 'in_language']);
    expect(chainOfType('tag_to_movie')).toEqual(['~has_tags']);
    expect(chainOfType('movie_to_tags')).toEqual(['has_tags']);
    expect(chainOfType('movie_to_imdbvotes')).toEqual(['has_imdb_votes']);
  });

  test.each(['', 'movie', 'movie_to_movie', 'actor_to_year', 'movie_to_constructor', 'movie_to_'])(
    '%j is none',
    (type) => {
      expect(chainOfType(type)).toBeUndefined();
    },
  );

  test('that are held out all have a chain', () => {
    expect(heldTypes.every((type) => chainOfType(type))).toBe(true);
  });
});

describe('importing MetaQA', () => {
  test('keeps the published partition by ids, and says which texts are on both sides of it', async () => {
    const rows = Array.from({ length: 40 }, () => 'who directed [Heat]\tMann\n').join('');
    const from = folderWith({ 'kb.txt': 'Heat|directed_by|Mann\n', '1-hop/qa_dev.txt': rows });
    const { notes } = await importMetaQa({ from, home: folderWith({}) });
    expect(notes).toEqual([
      '39 questions repeat the text of an earlier one; the published partition by id is kept: "who directed heat"',
      '1 text is in both dev-train and dev-valid: "who directed heat"',
      '1 text is in both dev-train and dev-test: "who directed heat"',
      '1 text is in both dev-valid and dev-test: "who directed heat"',
    ]);
  });

  test('takes brackets away, adds inverses and spells chains; ids are hops and line', async () => {
    const home = folderWith({});
    const manifest = await importMetaQa({ from: folderWith(tinyMetaQa), home });
    expect(manifest.graphs.kb).toMatchObject({ entities: 7, relations: 6, triples: 14 });
    const dataset = loadQuestionDataset('metaqa', { home });
    expect(dataset.storedQuestions('2-hop', 'dev')).toEqual([
      {
        id: '2-0',
        question: 'who directed the films Ben Oar acts in',
        topics: [{ name: 'Ben Oar', span: [23, 30] }],
        answers: [{ name: 'Ada Quill' }],
        chains: [['~starred_actors', 'directed_by']],
        type: 'actor_to_movie_to_director',
        hops: 2,
      },
    ]);
    expect(dataset.storedQuestions('1-hop', 'dev')[1]!.answers).toEqual([
      { name: 'Glass Harbor' },
      { name: 'Paper Moons' },
    ]);
  });

  test('reads any of train, dev and test, with or without types, with CRLF line ends', async () => {
    const home = folderWith({});
    const crlf = (text: string) => text.replaceAll('\n', '\r\n');
    const from = folderWith({
      'kb.txt': crlf(tinyMetaQa['kb.txt']),
      '1-hop/vanilla/qa_train.txt': crlf(tinyMetaQa['1-hop/qa_dev.txt']),
      '1-hop/qa_train_qtype.txt': crlf(tinyMetaQa['1-hop/qa_dev_qtype.txt']),
      '1-hop/vanilla/qa_dev.txt': crlf(tinyMetaQa['1-hop/qa_dev.txt']),
    });
    await importMetaQa({ from, home });
    const dataset = loadQuestionDataset('metaqa', { home });
    expect(
      dataset
        .splits()
        .slice(0, 2)
        .map(({ name }) => name),
    ).toEqual(['train', 'dev']);
    expect(dataset.storedQuestions('1-hop', 'train')[0]).toMatchObject({
      id: '1-0-train',
      answers: [{ name: 'Ada Quill' }],
      type: 'movie_to_director',
    });
    expect(dataset.storedQuestions('1-hop', 'dev')[0]).not.toHaveProperty('chains');
    expect((await dataset.loadGraph()).numEntities).toBe(7);
  });

  test('drops questions without topic or answer under their reasons, and keeps what the graph lacks', async () => {
    const from = folderWith({
      'kb.txt': tinyMetaQa['kb.txt'],
      '1-hop/qa_dev.txt': 'who is it\tx\nwho made [Lost]\tNobody|Ada Quill|Ada Quill\nwho made [Lost]\t|\n',
    });
    const { subsets } = await importMetaQa({ from, home: folderWith({}) });
    expect(subsets['1-hop']!.files.dev).toEqual({
      questions: 1,
      dropped: { 'no [topic] in the question': 1, 'no answer': 1 },
      topicsNotInGraph: 1,
      answersNotInGraph: 1,
    });
  });

  test('lists every broken line, up to twenty, and imports nothing', async () => {
    const rows = Array.from({ length: 25 }, (_, i) => `broken ${i}`);
    const home = folderWith({});
    const bad = { 'kb.txt': tinyMetaQa['kb.txt'], '1-hop/qa_dev.txt': ['who [A]\tb', ...rows].join('\n') };
    const failed = importMetaQa({ from: folderWith(bad), home });
    await expect(failed).rejects.toMatchObject({ code: 'data', message: expect.stringMatching(/^25 broken lines:\n/) });
    await expect(failed).rejects.toThrow(/qa_dev\.txt:2: .*got 1 fields[^]*qa_dev\.txt:21: [^]*and 5 more/);
    await expect(
      importMetaQa({ from: folderWith({ 'kb.txt': 'a|b\nc|d|e\n|x|y\n', '1-hop/qa_dev.txt': '' }), home }),
    ).rejects.toThrow(/2 broken lines:[^]*kb\.txt:1: expected 3 fields, got 2[^]*kb\.txt:3: expected 3 names/);
    expect(() => loadQuestionDataset('metaqa', { home })).toThrow('expected an imported data set');
  });

  test('refuses a folder without the release, and types that do not match', async () => {
    await expect(importMetaQa({ from: folderWith({}), home: folderWith({}) })).rejects.toThrow('kb.txt');
    await expect(importMetaQa({ from: folderWith({ 'kb.txt': 'a|b|c' }), home: folderWith({}) })).rejects.toThrow(
      '1-hop/qa_dev.txt',
    );
    const uneven = { ...tinyMetaQa, '2-hop/qa_dev_qtype.txt': 'a\nb\n' };
    await expect(importMetaQa({ from: folderWith(uneven), home: folderWith({}) })).rejects.toThrow('expected 2 lines');
  });

  test('fails only with expected errors, for any file content', () => {
    const file = join(folderWith({}), 'qa_dev.txt');
    const row = fc.array(fc.oneof(fc.constantFrom('\t', '|', '[', ']', '\r', '\n', 'a'), fc.string()), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(row, (pieces) => {
        writeFileSync(file, pieces.join(''));
        try {
          const { questions } = readMetaQaQuestions({ hops: 1, file: 'dev', questions: file, types: undefined });
          for (const { question, topics } of questions) {
            for (const { name, span } of topics) expect(question.slice(...span!)).toBe(name);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(WorkbenchError);
        }
      }),
      { numRuns: 300 },
    );
  });
});
