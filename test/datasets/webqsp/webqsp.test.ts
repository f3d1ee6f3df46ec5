import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { importWebQsp } from '../../../datasets/webqsp/import.js';
import { descriptionsOf, importWebQuestions } from '../../../datasets/webquestions/import.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { executeChain } from '../../../src/kg/frontier.js';
import { WorkbenchError } from '../../../src/run/errors.js';

let folder: string;
let home: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kgwalk-test-'));
  home = join(folder, 'home');
  writeFileSync(
    join(folder, 'freebase_named_triples.tsv'),
    'Ada Orr\tpeople.person.sibling_s\tm.0x1\nm.0x1\tpeople.sibling_relationship.sibling\tBo Orr\nBo Orr\tpeople.person.gender\tMale\n',
  );
  writeFileSync(join(folder, 'mid2name.tsv'), 'm.ada\tAda Orr\nm.bo\tBo Orr\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const parse = {
  PotentialTopicEntityMention: 'ada orr',
  TopicEntityName: 'Ada O.',
  TopicEntityMid: 'm.ada',
  InferentialChain: ['people.person.sibling_s', 'people.sibling_relationship.sibling'],
  Constraints: [{}],
  Answers: [{ AnswerType: 'Entity', AnswerArgument: 'm.bo', EntityName: 'Bo' }],
};
const release = (...questions: unknown[]) =>
  writeFileSync(join(folder, 'WebQSP.train.json'), JSON.stringify({ Questions: questions }));

describe('WebQSP', () => {
  test('a parse becomes topic, chain and answers by the names of the graph, through the mediator', async () => {
    release(
      { QuestionId: 'WebQTrn-0', ProcessedQuestion: 'who is the brother of ada orr', Parses: [parse] },
      { QuestionId: 'WebQTrn-1', ProcessedQuestion: 'who', Parses: [{ ...parse, Answers: [] }] },
    );
    const manifest = await importWebQsp({ from: folder, home });
    expect(manifest.labels).toEqual([]);
    expect(manifest.subsets.webqsp!.files.train).toMatchObject({
      questions: 1,
      dropped: { 'no parse with answers': 1 },
    });
    const dataset = loadQuestionDataset('webqsp', { home });
    const graph = await dataset.loadGraph();
    const [{ task, gold }] = ['train-train', 'train-valid', 'train-test'].flatMap((split) =>
      dataset.questions(graph, { split }),
    ) as [ReturnType<typeof dataset.questions>[number]];
    expect(task.topics).toEqual([{ name: 'Ada Orr', span: [22, 29], entity: graph.entityId('Ada Orr') }]);
    expect(gold).toMatchObject({
      answers: [{ name: 'Bo Orr', aliases: ['Bo'], entity: graph.entityId('Bo Orr') }],
      type: '2-hop constrained',
    });
    expect([...executeChain(graph, [task.topics[0]!.entity], gold.chains[0]!).entities]).toEqual([
      graph.entityId('Bo Orr'),
    ]);
  });

  test('a folder without questions, damaged JSON and triples of two fields are each one clear error', async () => {
    await expect(importWebQsp({ from: folder, home })).rejects.toThrow(/expected WebQSP.train.json/);
    writeFileSync(join(folder, 'WebQSP.train.json'), '{"Questions": 3}');
    await expect(importWebQsp({ from: folder, home })).rejects.toThrow(/expected the questions of WebQSP 1.0/);
    release({ QuestionId: 'q', ProcessedQuestion: 'who', Parses: [parse] });
    writeFileSync(join(folder, 'freebase_named_triples.tsv'), 'a\tb\n');
    await expect(importWebQsp({ from: folder, home })).rejects.toThrow(/expected 3 fields, got 2.*:1/);
  });
});

describe('WebQuestions', () => {
  test('takes the topic from the address and answers by name, with the triples of the neighbouring folder', async () => {
    const own = join(folder, 'webquestions');
    mkdirSync(own);
    mkdirSync(join(folder, 'webqsp'));
    writeFileSync(join(folder, 'webqsp', 'freebase_named_triples.tsv'), 'Ada Orr\tknows\tBo Orr\n');
    writeFileSync(
      join(own, 'webquestions.examples.train.json'),
      JSON.stringify([
        {
          url: 'http://host/view/en/ada_orr',
          targetValue: '(list (description "bo orr"))',
          utterance: 'who knows Ada Orr?',
        },
        { url: 'http://host/view/en/x', targetValue: '(list)', utterance: 'nothing?' },
      ]),
    );
    const manifest = await importWebQuestions({ from: own, home });
    expect(manifest.subsets.webquestions!.files.train).toMatchObject({ questions: 1, dropped: { 'no answer': 1 } });
    const dataset = loadQuestionDataset('webquestions', { home });
    const [stored] = dataset.storedQuestions('webquestions', 'train');
    expect(stored).toEqual({
      id: 'train-0',
      question: 'who knows Ada Orr?',
      topics: [{ name: 'Ada Orr', span: [10, 17] }],
      answers: [{ name: 'Bo Orr', aliases: ['bo orr'] }],
    });
  });

  test('descriptions are read with and without quotes, escapes included', () => {
    expect(descriptionsOf('(list (description "A \\"B\\" (c)") (description D) (description http://x/y))')).toEqual([
      'A "B" (c)',
      'D',
      'http://x/y',
    ]);
  });

  test('no text makes the reading of descriptions fail or hang', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(Array.isArray(descriptionsOf(`(list (description "${text}`))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

test('any JSON in place of a release is refused as data', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      writeFileSync(join(folder, 'WebQSP.train.json'), JSON.stringify(value));
      await expect(importWebQsp({ from: folder, home })).rejects.toBeInstanceOf(WorkbenchError);
    }),
    { numRuns: 20 },
  );
});
