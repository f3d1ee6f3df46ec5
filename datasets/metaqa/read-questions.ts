/** One file of MetaQA's questions: `text with [topic]` TAB `answer|answer`, and its types, line by line. */
import { printable } from '../../src/run/printable.js';
import { LineProblems } from '../line-problems.js';
import { markedTopics } from '../questions/marked-topics.js';
import type { StoredQuestion } from '../questions/stored-question.js';
import { textRows } from '../questions/text-rows.js';
import type { ImportedFile } from '../questions/write-question-dataset.js';
import { chainOfType } from './question-types.js';

/** Where the questions of one number of hops stand, and their types. */
export interface QuestionFile {
  hops: number;
  /** `train`, `dev` or `test`. */
  file: string;
  questions: string;
  /** Absent where the folder has none: then neither types nor chains are known. */
  types: string | undefined;
}

/**
 * Ids are `hops-line`, the line from 0, and partitions hash them; files other than dev add their name, so that no id comes twice:
 * `2-1987`, `2-1987-train`. Questions without a bracketed topic or without an answer are dropped and counted.
 * @throws WorkbenchError `data` that lists every broken line
 */
export function readMetaQaQuestions({ hops, file, questions, types }: QuestionFile): ImportedFile {
  const rows = textRows(questions, 'MetaQA questions');
  const typeOf = types === undefined ? [] : textRows(types, 'MetaQA question types');
  const problems = new LineProblems(questions);
  if (types !== undefined && typeOf.length !== rows.length) {
    problems.add(rows.length, `expected ${typeOf.length} lines, as many as ${types}, got ${rows.length}`);
  }
  const dropped = { 'no [topic] in the question': 0, 'no answer': 0 };
  const stored: StoredQuestion[] = [];
  rows.forEach((row, index) => {
    const fields = row.split('\t');
    if (fields.length !== 2) {
      const got = printable(JSON.stringify(row), 80);
      problems.add(index + 1, `expected a question, a TAB and answers, got ${fields.length} fields (${got})`);
      return;
    }
    const { question, topics } = markedTopics(fields[0]!);
    const answers = [...new Set(fields[1]!.split('|').filter((answer) => answer.trim() !== ''))];
    if (topics.length === 0) dropped['no [topic] in the question']++;
    else if (answers.length === 0) dropped['no answer']++;
    else {
      const type = typeOf[index];
      const chain = type === undefined ? undefined : chainOfType(type);
      stored.push({
        id: `${hops}-${index}${file === 'dev' ? '' : `-${file}`}`,
        question,
        topics,
        answers: answers.map((name) => ({ name })),
        ...(chain && { chains: [chain] }),
        ...(type !== undefined && { type }),
        hops,
      });
    }
  });
  problems.throwIfAny();
  return { questions: stored, dropped };
}
