/** Questions of one text: found, counted, and kept in one part. */
import { listed } from '../import-notes.js';
import type { QuestionSplit } from './question-manifest.js';
import type { StoredQuestion } from './stored-question.js';
import type { QuestionDatasetParts } from './write-question-dataset.js';

/** A question's text, topics included, regardless of case, spaces and the mark at its end. */
const textOf = ({ question }: StoredQuestion) =>
  question
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .replace(/[\s?!.]+$/u, '')
    .trimStart();

/**
 * Questions of one text and their groups as one group, and a note on them. Questions of a text that occurs once are unchanged.
 */
export function groupedByText(given: QuestionDatasetParts['subsets']): {
  subsets: QuestionDatasetParts['subsets'];
  notes: string[];
} {
  const groupOf = ({ id, group = id }: StoredQuestion) => group;
  const all = given.flatMap(({ files }) => Object.values(files).flatMap(({ questions }) => questions));
  const parents = new Map<string, string>();
  const root = (group: string): string => {
    const parent = parents.get(group);
    return parent === undefined ? group : root(parent);
  };
  const firstOf = new Map<string, StoredQuestion>();
  const repeated: StoredQuestion[] = [];
  for (const question of all) {
    const first = firstOf.get(textOf(question)) ?? question;
    firstOf.set(textOf(question), first);
    if (first === question) continue;
    repeated.push(question);
    const [own, other] = [root(groupOf(question)), root(groupOf(first))];
    if (own !== other) parents.set(own, other);
  }
  if (repeated.length === 0) return { subsets: given, notes: [] };
  const moved = (question: StoredQuestion): StoredQuestion => {
    const group = root(groupOf(question));
    return group === groupOf(question) ? question : { ...question, group };
  };
  const subsets = given.map(({ files, ...subset }) => ({
    ...subset,
    files: Object.fromEntries(
      Object.entries(files).map(([name, file]) => [name, { ...file, questions: file.questions.map(moved) }]),
    ),
  }));
  const texts = [...new Set(repeated.map(textOf))];
  return {
    subsets,
    notes: [
      `${repeated.length} questions repeat the text of an earlier one, of ${texts.length} texts; no hash partition splits them: ${listed(texts)}`,
      ...sharedTexts(given),
    ],
  };
}

/** Notes on texts of one release file that another file of its subset has too. */
function sharedTexts(subsets: QuestionDatasetParts['subsets']): string[] {
  return subsets.flatMap(({ name, files }) => {
    const parts = Object.entries(files).map(([file, { questions }]) => ({ name: file, questions }));
    return notesOnShared(parts).map((text) => `${name}: ${text}`);
  });
}

/** A sentence for each two parts that have questions of one text. */
export function notesOnShared(parts: readonly { name: string; questions: readonly StoredQuestion[] }[]): string[] {
  const texts = parts.map(({ questions }) => new Set(questions.map(textOf)));
  return parts.flatMap(({ name }, i) =>
    parts.slice(0, i).flatMap((earlier, j) => {
      const common = [...texts[i]!].filter((text) => texts[j]!.has(text));
      return common.length === 0
        ? []
        : [`${common.length} texts are in both ${earlier.name} and ${name}: ${listed(common)}`];
    }),
  );
}

/** `notesOnShared` of the splits of one kind: train, valid, test. */
export function sharedBySplits(
  splits: readonly QuestionSplit[],
  stored: readonly { question: StoredQuestion; file: string }[],
): string[] {
  const parts = splits
    .filter(({ holdOut, role }) => holdOut === 'question' && role !== undefined)
    .map(({ name, has }) => ({
      name,
      questions: stored.filter(({ question, file }) => has(question, file)).map(({ question }) => question),
    }));
  return notesOnShared(parts);
}
