import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readCustomQuestions } from '../../datasets/custom/read-questions.js';
import { readMetaQaQuestions } from '../../datasets/metaqa/import.js';
import { readPathQuestions } from '../../datasets/pathquestion/import.js';
import { locatedTopic, markedTopics, type StoredQuestion } from '../../datasets/questions/stored-question.js';
import { descriptionsOf } from '../../datasets/webquestions/import.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { nearestName } from '../../src/run/printable.js';
import { normalizeName } from '../../src/kg/name-index.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { hostileBytes, hostileJsonLines, spoiltText } from '../fixtures/spoilt.js';
import { tinyMetaQa, tinyPathQuestion } from '../fixtures/tiny-questions.js';

/** Places are places in the text. */
function areQuestions(result: unknown): void {
  for (const { question, topics } of (result as { questions: StoredQuestion[] }).questions) {
    for (const { name, span } of topics) {
      if (span) expect(question.slice(...span).toLowerCase()).toBe(name.toLowerCase());
    }
  }
}

describe('questions', () => {
  test('of MetaQA are read, or each broken line is named', async () => {
    const [questions, types] = [hostileFile('qa_dev.txt'), hostileFile('qa_dev_qtype.txt')];
    const [text, kinds] = [tinyMetaQa['1-hop/qa_dev.txt'], tinyMetaQa['1-hop/qa_dev_qtype.txt']];
    const inputs = fc.oneof(
      hostileBytes(text).map((bytes) => [bytes, undefined]),
      hostileBytes(text).map((bytes) => [bytes, kinds]),
      spoiltText(kinds).map((odd) => [text, odd]),
    );
    const read = ([rows, typeRows]: (string | Buffer | undefined)[]) =>
      readMetaQaQuestions({
        ...{ hops: 1, file: 'dev', questions: questions.write(rows!) },
        types: typeRows === undefined ? undefined : types.write(typeRows),
      });
    await withstands(inputs, read, { place: questions.path, check: areQuestions });
  });

  test('of PathQuestion are read, or each broken line is named', async () => {
    const { path, write } = hostileFile('PQ-2H.txt');
    const inputs = hostileBytes(tinyPathQuestion['PQ-2H.txt']);
    await withstands(inputs, (bytes) => readPathQuestions(write(bytes), '2H', 2), { place: path });
  });

  test('of the user are read, or each broken line is named', async () => {
    const { path, write } = hostileFile('questions.jsonl');
    const builder = new GraphBuilder();
    builder.add('Heat', 'directed_by', 'Mann');
    const graph = builder.build('graph', { addInverses: true });
    const inputs = hostileJsonLines(
      { question: 'who directed [Heat]', answers: ['Mann'], chain: ['directed_by'], aliases: { Mann: ['M.'] } },
      { id: 'q', question: 'is it so', topics: ['Heat'], form: 'truth', truth: true, claimed: 'Mann', type: 't' },
      { question: 'what', topics: ['Mann'], answers: ['Heat'], hops: 1 },
    );
    const read = (bytes: Buffer) => readCustomQuestions(write(bytes), { graph, resolve: (name) => name });
    const isOwn = (result: unknown) => {
      for (const file of Object.values(result as Record<string, { questions: StoredQuestion[] }>)) areQuestions(file);
    };
    await withstands(inputs, read, { place: path, check: isOwn });
  });

  test('of WebQuestions have exactly the answers of their list', () => {
    const list = '(list (description "A \\"b\\"") (description C D))';
    fc.assert(
      fc.property(spoiltText(list), (text) => descriptionsOf(text).every((answer) => answer.trim() !== '')),
      { numRuns: 300, seed: 1 },
    );
  });
});

describe('what is done with names takes time in proportion to them', () => {
  const long = 2 ** 19;
  test.each<[string, () => unknown]>([
    ['brackets that never close', () => markedTopics('['.repeat(long))],
    ['brackets that close late', () => markedTopics(`${'[a] '.repeat(long / 4)}`)],
    ['a mention inside of words', () => locatedTopic('a'.repeat(long / 16), 'a')],
    ['a list that never ends', () => descriptionsOf('(description "a" '.repeat(long / 16))],
    ['a list of escapes', () => descriptionsOf(`(description "${'\\a'.repeat(long)}`)],
    ['a name of spaces', () => normalizeName(`a${' '.repeat(long)}b`)],
    ['a name of signs', () => normalizeName('.'.repeat(long))],
    ['a name of apostrophes', () => normalizeName("a'".repeat(long / 2))],
    ['a name of digits and dots', () => normalizeName('1.'.repeat(long / 2))],
    ['long names that are alike', () => nearestName('a'.repeat(long), ['b'.repeat(long), 'c'.repeat(long)])],
  ])('%s', (_name, act) => {
    act();
  });
});
