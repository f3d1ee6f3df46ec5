import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { importPathQuestion, readPathQuestions } from '../../../datasets/pathquestion/import.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { excludedTopics } from '../../../datasets/question.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { tinyPathQuestion } from '../../fixtures/tiny-questions.js';

describe('importing PathQuestion', () => {
  test('takes the chain and the topic from the gold path, and all answers', async () => {
    const home = folderWith({});
    const manifest = await importPathQuestion({ from: folderWith(tinyPathQuestion), home });
    expect(manifest.subsets).toMatchObject({ '2H': { graph: '2H', files: { all: { questions: 3 } } } });
    const dataset = loadQuestionDataset('pathquestion', { home });
    const [first, second, third] = dataset.storedQuestions('2H', 'all');
    expect(first).toEqual({
      id: '2H-0',
      question: "what is the gender of ann_lee 's dad ?",
      topics: [{ name: 'ann_lee', span: [22, 29] }],
      answers: [{ name: 'male' }],
      chains: [['parents', 'gender']],
      type: 'parents/gender',
      hops: 2,
      group: '2H#ann_lee#parents#gender',
    });
    expect(third!.answers).toEqual([{ name: 'ann_lee' }, { name: 'cy_lee' }]);
    expect([second!.group === first!.group, third!.group === first!.group]).toEqual([true, false]);
    const graph = await dataset.loadGraph(['2H']);
    const { task } = ['train', 'valid', 'test'].flatMap((split) => dataset.questions(graph, { split }))[0]!;
    expect(excludedTopics(task)).toEqual([]);
  });

  test('lists broken lines: fields, paths of another length, answers that do not end the path', async () => {
    const good = tinyPathQuestion['PQ-2H.txt'].split('\n')[0]!;
    const rows = [
      good,
      'a\tb',
      good.replace('#gender#male', ''),
      good.replace('male(male/)', 'x(male/)'),
      `${good}\tmore`,
      '',
    ];
    const from = folderWith({ ...tinyPathQuestion, 'PQ-2H.txt': rows.join('\r\n') + '\r\n' });
    const failed = importPathQuestion({ from, home: folderWith({}) });
    await expect(failed).rejects.toThrow(/5 broken lines:[^]*:2: [^]*:3: [^]*:4: [^]*:5: [^]*:6: /);
    await expect(importPathQuestion({ from: folderWith({}), home: folderWith({}) })).rejects.toThrow('got neither');
    const { '2H-kb.txt': _, ...withoutKb } = tinyPathQuestion;
    await expect(importPathQuestion({ from: folderWith(withoutKb), home: folderWith({}) })).rejects.toThrow(
      '2H-kb.txt',
    );
  });

  test('fails only with expected errors, for any file content', () => {
    const file = join(folderWith({}), 'PQ-2H.txt');
    const piece = fc.oneof(
      fc.constantFrom('\t', '#', '(', ')', '/', '<end>', '\n', 'a', 'a#r#b#s#c#<end>#c'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        writeFileSync(file, pieces.join(''));
        try {
          readPathQuestions(file, '2H', 2);
        } catch (error) {
          expect(error).toBeInstanceOf(WorkbenchError);
        }
      }),
      { numRuns: 300 },
    );
  });
});
