/** Import of questions that are made from a graph alone, with a test part of its owner where there is one. */
import { createHash } from 'node:crypto';
import { inversePrefix } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { readCustomQuestions } from '../custom/read-questions.js';
import type { CustomGraph } from '../custom/read-rdf.js';
import type { ImportReport } from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import type { StoredQuestion } from '../questions/stored-question.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';
import { makeQuestions, type MakeOptions } from './make-questions.js';
import type { RelationWords } from './relation-words.js';
import type { Vocabulary } from './vocabulary.js';
import { saysNothing, writeWords } from './words-file.js';

/** A graph to make questions about, and the files that it was read from. */
export type OwnGraph = CustomGraph & { sources: readonly string[] };

/** One question in so many is kept for valid. */
const validEvery = 10;

/** @throws WorkbenchError `data` for a graph whose questions would all ask the same */
export function refuseOneRelation({ graph, sources }: OwnGraph): void {
  const [only, ...others] = graph.relationNames.filter((name) => !name.startsWith(inversePrefix));
  if (others.length > 0) return;
  throw new WorkbenchError('data', `expected several relations, got only ${only}, at ${sources.join(', ')}`, {
    hint: 'A question is read by which relations it names.',
  });
}

/**
 * Makes questions about a graph.
 * @throws WorkbenchError `data` where no relation has a word, or no chain of them leads to an answer
 */
export function questionsOf(
  { graph }: OwnGraph,
  words: ReadonlyMap<string, RelationWords>,
  vocabulary: Vocabulary,
  options: MakeOptions,
): StoredQuestion[] {
  const none = (what: string, hint: string) => new WorkbenchError('data', `expected ${what}, got none`, { hint });
  if ([...words.values()].every(saysNothing)) {
    throw none('words for the relations of the graph', 'Write them: kgwalk questions words GRAPH makes a file for it.');
  }
  const questions = makeQuestions(graph, words, vocabulary, options);
  if (questions.length > 1) return questions;
  throw none('chains of relations that lead to answers', 'A chain that leads to more than 60 entities is not asked.');
}

/** Options of `importMade`. */
export interface MadeOptions extends MakeOptions {
  /** Name of the data set. */
  name: string;
  /** File of further questions, in the format of custom ones, which become the test part. */
  test?: string | undefined;
  /** Further facts of how the words were found, for the record. */
  about?: Readonly<Record<string, string | number>>;
  home?: string;
}

/** Writes a data set of questions about a graph: nine tenths are train, one is valid. Equal settings give equal bytes. @throws as `questionsOf` */
export async function importMade(
  own: OwnGraph,
  words: ReadonlyMap<string, RelationWords>,
  vocabulary: Vocabulary,
  { name, test, about, home, ...options }: MadeOptions,
): Promise<QuestionManifest> {
  const { graph, aliases, note, sources } = own;
  const report: ImportReport = { notes: [] };
  const ofOwner =
    test === undefined ? [] : Object.values(readCustomQuestions(test, own, report)).flatMap((file) => file.questions);
  const made = questionsOf(own, words, vocabulary, options);
  const part = (isValid: boolean) => ({
    questions: made.filter((_, i) => (i % validEvery === validEvery - 1 || i === made.length - 1) === isValid),
  });
  const wordsHash = createHash('sha256').update(writeWords(words, vocabulary.name)).digest('hex');
  return writeQuestionDataset(
    {
      ...{
        name,
        format: 'generated',
        licence: 'as its source says',
        labels: ['generated'],
        aliases,
        notes: report.notes,
      },
      graphs: [{ graph, note: `${note}; questions are generated from the graph itself` }],
      subsets: [
        {
          name: 'all',
          graph: graph.name,
          files: {
            train: part(false),
            valid: part(true),
            ...(ofOwner.length > 0 && { test: { questions: ofOwner } }),
          },
        },
      ],
      topicsReturn: options.topicsReturn,
      sources: test === undefined ? sources : [...sources, test],
      generated: {
        by: 'kgwalk questions make',
        settings: { ...options, vocabulary: vocabulary.name, words: wordsHash, ...about },
      },
    },
    home,
  );
}
