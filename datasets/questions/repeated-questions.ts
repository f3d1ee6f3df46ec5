/** Questions of one text: found, counted, and kept in one part. */
import { listed } from '../import-notes.js';
import type { QuestionSplit } from './question-manifest.js';
import type { StoredQuestion } from './stored-question.js';

/** A question's text, topics included, regardless of case, spaces and the mark at its end. */
const textOf = ({ question }: StoredQuestion) =>
  question
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .replace(/[\s?!.]+$/u, '')
    .trimStart();

const groupOf = ({ id, group = id }: StoredQuestion) => group;

/** Groups of questions joined where they share a text: `grouped` returns a question with its group. A text that occurs once changes none. */
export function groupedByText(questions: readonly StoredQuestion[]): {
  grouped: (question: StoredQuestion) => StoredQuestion;
  notes: string[];
} {
  const parents = new Map<string, string>();
  const root = (group: string): string => {
    let top = group;
    while (parents.has(top)) top = parents.get(top)!;
    return top;
  };
  const firstOf = new Map<string, StoredQuestion>();
  const texts = new Set<string>();
  for (const question of questions) {
    const text = textOf(question);
    const first = firstOf.get(text);
    if (first === undefined) {
      firstOf.set(text, question);
      continue;
    }
    texts.add(text);
    const [own, other] = [root(groupOf(question)), root(groupOf(first))];
    if (own !== other) parents.set(own, other);
  }
  const repeated = questions.length - firstOf.size;
  const note = `${repeated} ${repeated === 1 ? 'question repeats' : 'questions repeat'} the text of an earlier one; partitions by hash keep them together: ${listed([...texts])}`;
  const grouped = (question: StoredQuestion): StoredQuestion => {
    const group = root(groupOf(question));
    return group === groupOf(question) ? question : { ...question, group };
  };
  return { grouped, notes: repeated === 0 ? [] : [note] };
}

/** A sentence for each two parts that have questions of one text. */
export function notesOnShared(parts: readonly { name: string; questions: readonly StoredQuestion[] }[]): string[] {
  const texts = parts.map(({ questions }) => new Set(questions.map(textOf)));
  return parts.flatMap(({ name }, i) =>
    parts.slice(0, i).flatMap((earlier, j) => {
      const common = [...texts[i]!].filter((text) => texts[j]!.has(text));
      const found = `${common.length} ${common.length === 1 ? 'text is' : 'texts are'} in both ${earlier.name} and ${name}`;
      return common.length === 0 ? [] : [`${found}: ${listed(common)}`];
    }),
  );
}

/** `notesOnShared` of the splits that are held out by question: train, valid, test. */
export function sharedBySplits(
  splits: readonly QuestionSplit[],
  stored: readonly { question: StoredQuestion; file: string }[],
): string[] {
  const parts = splits.filter(({ holdOut, role }) => holdOut === 'question' && role !== undefined);
  return notesOnShared(
    parts.map(({ name, has }) => ({
      name,
      questions: stored.filter(({ question, file }) => has(question, file)).map(({ question }) => question),
    })),
  );
}
