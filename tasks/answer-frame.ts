/** Sections of `kgwalk ask` on every task: the question as understood, ranked answers, where each is from, and what answered. */
import { resolveCheckpoint } from '../checkpoints/store.js';
import type { Section } from '../src/run/evaluation.js';
import { printable } from '../src/run/printable.js';
import { membersOf, type Resolved } from './task.js';

/** Characters of a name or a walk: a giant name fills no screen. */
const longest = 500;

/** An answered question, in names. */
export interface AnswerFrame {
  question: string;
  /** Entities that it is about. */
  topics: readonly string[];
  /** Trace of the agent, step by step. */
  steps?: readonly string[];
  /** Best first, with their cells, such as a probability; `from` is the walk or the rule that led to the answer. */
  answers: readonly { cells: { answer: string } & Record<string, string>; from?: string | undefined }[];
  /** In place of the table where there is no answer. */
  none: string;
  /** Lines under the table. */
  notes?: readonly string[];
  /** Graph and, for prompted agents, model. */
  over: string;
}

/** The sections of an answer. Where answers are from stands below their table, where the width of a terminal hides none of it. */
export function answerSections(
  { question, topics, steps = [], answers, none, notes = [], over }: AnswerFrame,
  which: Resolved,
): Section[] {
  const froms = answers.flatMap(({ from }, i) =>
    from === undefined ? [] : [`${String(i + 1).padStart(4)}  ${printable(from, longest)}`],
  );
  const about = topics.map((topic) => printable(topic, longest)).join('; ');
  return [
    { title: '', lines: [`question: ${printable(question)}`, `topic: ${about || 'none given'}`, ...steps] },
    answers.length === 0
      ? { title: '', lines: [none, ...notes] }
      : { title: '', rows: answers.map(({ cells }, i) => ({ rank: i + 1, ...cells })), lines: [...notes] },
    ...(froms.length > 0 ? [{ title: 'where from', lines: froms }] : []),
    { title: '', lines: [`answered by ${answererText(which)}, ${over}`] },
  ];
}

/** Agent that answered, or runs with their checkpoints. */
export function answererText({ name, trained }: Resolved): string {
  if (!trained) return `agent ${name}`;
  const texts = membersOf(trained).map(({ run, checkpoint: which }) => {
    const { name } = resolveCheckpoint(run.folder, which);
    return `run ${run.id}, checkpoint ${name}${name === which ? '' : ` (${which})`}`;
  });
  return texts.join(' + ');
}
