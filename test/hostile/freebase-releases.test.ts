import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from '@jest/globals';
import fc from 'fast-check';
import { importMooc } from '../../datasets/mooc/import.js';
import { loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import { importWebQsp } from '../../datasets/webqsp/import.js';
import { importWebQuestions } from '../../datasets/webquestions/import.js';
import { withstands } from '../fixtures/hostile.js';
import { hostileBytes, hostileJson } from '../fixtures/spoilt.js';

const home = mkdtempSync(join(tmpdir(), 'kgwalk-hostile-'));
const from = mkdtempSync(join(tmpdir(), 'kgwalk-hostile-'));

const triples =
  'Ada Orr\tpeople.person.sibling_s\tm.0x1\nm.0x1\tpeople.sibling_relationship.sibling\tBo Orr\nBo Orr\tpeople.person.gender\tMale\n';
const names = 'm.ada\tAda Orr\nm.bo\tBo Orr\n';
const parse = {
  PotentialTopicEntityMention: 'ada orr',
  TopicEntityName: 'Ada O.',
  TopicEntityMid: 'm.ada',
  InferentialChain: ['people.person.sibling_s', 'people.sibling_relationship.sibling'],
  Constraints: [{}],
  Answers: [{ AnswerType: 'Entity', AnswerArgument: 'm.bo', EntityName: 'Bo' }],
};
const webqsp = {
  Questions: [
    { QuestionId: 'WebQTrn-0', ProcessedQuestion: 'who is the brother of ada orr', Parses: [parse] },
    { QuestionId: 'WebQTrn-1', ProcessedQuestion: 'who', Parses: [{ ...parse, InferentialChain: null }] },
  ],
};
const webquestions = [
  { url: 'http://x.com/en/ada_orr', targetValue: '(list (description "Bo Orr"))', utterance: 'who is with ada orr' },
];
const campus = ['S_1\tschool_offers_course\tC_1', 'T_1\tteacher_teaches_course\tC_1', 'K_1\tconcept_major\tF_1', ''];

/** Writes the release's files, one of them spoilt, imports it, and reads what was stored. */
function importing(importer: typeof importWebQsp, whole: Record<string, string>) {
  return async ({ file, bytes }: { file: string; bytes: Buffer }) => {
    for (const [name, text] of Object.entries({ ...whole })) writeFileSync(join(from, name), text);
    writeFileSync(join(from, file), bytes);
    await importer({ from, name: 'odd', home });
    const dataset = loadQuestionDataset('odd', { home });
    const graph = await dataset.loadGraph([dataset.subsets[0]!]);
    return dataset.questions(graph, { subsets: [dataset.subsets[0]!], split: dataset.splits()[0]!.name });
  };
}
const of = (file: string, inputs: fc.Arbitrary<Buffer>) => inputs.map((bytes) => ({ file, bytes }));
// Every import writes files for certain, which takes its time.
const runs: [number, number] = [40, 10_000];

describe('releases over parts of Freebase, and of MOOCCube', () => {
  test('WebQSP is imported and read again, or refused', async () => {
    const whole = {
      'WebQSP.train.json': JSON.stringify(webqsp),
      'freebase_named_triples.tsv': triples,
      'mid2name.tsv': names,
    };
    const inputs = fc.oneof(
      { weight: 3, arbitrary: of('WebQSP.train.json', hostileJson(webqsp)) },
      of('freebase_named_triples.tsv', hostileBytes(triples)),
      of('mid2name.tsv', hostileBytes(names)),
    );
    await withstands(inputs, importing(importWebQsp, whole), { place: 'at', runs });
  });

  test('WebQuestions are imported and read again, or refused', async () => {
    const file = 'webquestions.examples.train.json';
    const whole = { [file]: JSON.stringify(webquestions), 'freebase_named_triples.tsv': triples };
    const inputs = of(file, hostileJson(webquestions));
    await withstands(inputs, importing(importWebQuestions, whole), { place: 'at', runs });
  });

  test('MOOCCube is imported and read again, or refused', async () => {
    const file = 'triples_structural.tsv';
    const inputs = of(file, hostileBytes(campus.join('\n')));
    await withstands(inputs, importing(importMooc, {}), { place: 'at', runs });
  });
});
