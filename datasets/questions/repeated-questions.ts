/** Questions of one text: found, counted, and kept in one part. */
import { listed } from '../import-notes.js';
import type { QuestionSplit } from './question-manifest.js';
import type { StoredQuestion } from './stored-question.js';

/** A question's text, topics included, regardless of case, spaces and the marks at its end. */
function textOf({ question }: StoredQuestion): string {
  const text = question.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ');
  let end = text.length;
  while (end > 0 && ' ?!.'.includes(text[end - 1]!)) end--;
  return text.slice(0, end).trimStart();
}

const groupOf = ({ id, group = id }: StoredQuestion) => group;

/**
 * Groups of questions joined where they share a text: `grouped` returns a question with its group. A text that occurs once changes none, and
 * a published partition is kept.
 */
export function groupedByText(
  questions: readonly StoredQuestion[],
  partition: 'together' | 'published' = 'together',
): { grouped: (question: StoredQuestion) => StoredQuestion; notes: string[] } {
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
    if (own !== other && partition === 'together') parents.set(own, other);
  }
  const repeated = questions.length - firstOf.size;
  const kept =
    partition === 'together' ? 'partitions by hash keep them together' : 'the published partition by id is kept';
  const note = `${repeated} ${repeated === 1 ? 'question repeats' : 'questions repeat'} the text of an earlier one; ${kept}: ${listed([...texts])}`;
  const grouped = (question: StoredQuestion): StoredQuestion => {
    const group = root(groupOf(question));
    return group === groupOf(question) ? question : { ...question, group };
  };
  return { grouped, notes: repeated === 0 ? [] : [note] };
}

/**
 * A sentence for each two splits (train, valid, test) of a subset that have questions of one text.
 * @param files questions by release file
 * @param grouped of `groupedByText`; default none
 */
export function sharedBySplits(
  splits: readonly QuestionSplit[],
  files: Readonly<Record<string, { questions: readonly StoredQuestion[] }>>,
  grouped = (question: StoredQuestion) => question,
): string[] {
  const parts = splits
    .filter(({ holdOut, role }) => holdOut === 'question' && role !== undefined)
    .map(({ name, has }) => {
      const own = Object.entries(files).flatMap(([file, { questions }]) =>
        questions.filter((question) => has(grouped(question), file)),
      );
      return { name, texts: new Set(own.map(textOf)) };
    });
  return parts.flatMap(({ name, texts }, i) =>
    parts.slice(0, i).flatMap((earlier) => {
      const common = [...texts].filter((text) => earlier.texts.has(text));
      const found = `${common.length} ${common.length === 1 ? 'text is' : 'texts are'} in both ${earlier.name} and ${name}`;
      return common.length === 0 ? [] : [`${found}: ${listed(common)}`];
    }),
  );
}
