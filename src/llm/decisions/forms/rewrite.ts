/** The question in other words, in parts or as goals; or what is known, in words. */
import type { RewriteDecision, RewriteReply } from '../../decision.js';
import { looseValues } from '../loose-json.js';
import { arrow } from '../prompt-text.js';
import type { ReplyForm } from '../reply-form.js';
import { distinctTexts, field, labelledValues, linesOf, listOf, numberedItems, unwrapped } from '../reply-values.js';

/** Longest text, in UTF-16 units: a plan holds several names of relations, and cut it would be another. */
export const longestText = ({ about }: Pick<RewriteDecision, 'about'>): number => (about === 'plan' ? 400 : 120);

const what: Readonly<Record<RewriteDecision['about'], string>> = {
  paraphrase: 'questions that ask the same in other words',
  'sub-question': 'parts of the question, in the order in which they are to be answered',
  'sub-objective': 'goals on the way to the answer, in their order',
  memory: 'short sentences that say what is known',
  plan: 'plans, each a text of relations with → between them',
};

const otherNames = [
  'text',
  'questions',
  'paraphrases',
  'subquestions',
  'parts',
  'goals',
  'objectives',
  'memory',
  'plans',
];

/** `{"texts":["…"]}`: one text at least, different ones. */
export const rewriteForm: ReplyForm<RewriteDecision> = {
  instruction: ({ about }) => `Reply with JSON that holds "texts", the list of ${what[about]}.`,
  limits: ({ count }) => (count === 1 ? 'Write 1 text.' : `Write at most ${count} texts.`),
  write: (_, { texts }) => ({ texts }),
  shape: ({ about, count }) => ({
    fields: { texts: { list: { text: longestText({ about }) }, min: 1, max: Math.max(count, 1) } },
  }),
  read(decision, value, lenient) {
    const list = listOf(field(value, 'texts', lenient, otherNames) ?? (lenient ? value : undefined));
    return list && reply(decision, lenient ? list.flatMap(textsOf(decision)) : list);
  },
  readWhole(decision, text) {
    if (linesOf(text).every(isSentence)) return sentences(decision, linesOf(text));
    const lists = looseValues(text).toReversed();
    return lists.length > 1 && lists.every(Array.isArray) ? reply(decision, textsInLists(decision, lists)) : undefined;
  },
  readLines: (decision, lines) => (/^["[{]/.test(lines[0] ?? '') ? undefined : sentences(decision, lines)),
};

/** Topics are often marked by brackets, and lists of them follow a part: a line of words that holds some is no list. */
function isSentence(line: string): boolean {
  const outside = line.replace(/\[[^[\]{}]*\]/g, ' ');
  return !/[[\]{}]/.test(outside) && !/:\s*\[/.test(line) && /\p{L}\W+\p{L}/u.test(outside);
}

function textsOf({ about }: RewriteDecision): (entry: unknown) => string[] {
  if (about !== 'plan') return textsIn;
  return (entry) => (Array.isArray(entry) ? [listOf(entry)!.flatMap(textsIn).join(arrow)] : textsIn(entry));
}

const textsInLists = (decision: RewriteDecision, lists: readonly unknown[]): string[] =>
  decision.about === 'plan' ? lists.flatMap(textsOf(decision)) : lists.flatMap(textsIn);

/** Texts of a list of any form: `"…"`, `["…", "topic"]`, `{"question":"…"}`. */
function textsIn(entry: unknown): string[] {
  const isText = (value: unknown): value is string => typeof value === 'string';
  if (isText(entry)) return [unwrapped(withoutNumber(entry))];
  if (Array.isArray(entry)) return listOf(entry)!.filter(isText).flatMap(textsIn);
  if (typeof entry !== 'object' || entry === null) return [];
  return Object.values(entry).filter(isText).slice(0, 1).flatMap(textsIn);
}

/** A line a text; what only announces the texts is none. */
function sentences(decision: RewriteDecision, lines: readonly string[]): RewriteReply | undefined {
  const labelled = labelledValues(lines, ['question', 'paraphrase', 'sub-question', 'part', 'goal', ...otherNames]);
  const items = labelled.length > 0 ? labelled : (numberedItems(lines) ?? lines.filter((line) => !line.endsWith(':')));
  return reply(
    decision,
    items.map((item) => unwrapped(withoutNumber(item.replace(/(?<![\s,;])[\s,;]*\[\s*(?:["'][^[\]]*)?\]\s*$/, '')))),
  );
}

const withoutNumber = (text: string): string => text.replace(/^\s*\(?\d{1,2}[.)]\s+/, '');

function reply({ about, count }: RewriteDecision, values: readonly unknown[]): RewriteReply | undefined {
  const cut = values.map((value) =>
    typeof value === 'string' ? cutAtWord(value.replace(/\s+/gu, ' ').trim(), longestText({ about })) : value,
  );
  const texts = distinctTexts(cut, Math.max(count, 1));
  return texts.length > 0 ? { texts } : undefined;
}

function cutAtWord(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = text.lastIndexOf(' ', longest);
  return text.slice(0, end > 0 ? end : longest);
}
