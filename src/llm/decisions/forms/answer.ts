/** Decisions whose replies hold free text: key phrases, verdicts with a reason, answers. */
import type {
  AnswerDecision,
  AnswerReply,
  ExtractDecision,
  ExtractReply,
  JudgeDecision,
  JudgeReply,
} from '../../decision.js';
import { offeredTexts } from '../prompt-text.js';
import { type ReplyForm, type ReplyShape, wholeNumbers } from '../reply-form.js';
import {
  distinctTexts,
  field,
  labelledValues,
  listOf,
  numberedItems,
  OfferedNames,
  offeredIndex,
  splitList,
  textOf,
  unwrapped,
} from '../reply-values.js';

const itemNames = ['phrases', 'keyphrases', 'keywords', 'clues', 'entities'];

/** `{"items":["…"]}`: phrases, different ones. */
export const extractForm: ReplyForm<ExtractDecision> = {
  instruction: () => 'Reply with JSON that holds "items", the list of phrases.',
  limits: ({ maxItems }) => `Write at most ${maxItems} phrases.`,
  write: (_, { items }) => ({ items }),
  shape: ({ maxItems }) => ({ fields: { items: { list: { text: 80 }, min: 1, max: maxItems } } }),
  read(decision, value, lenient) {
    const list = listOf(field(value, 'items', lenient, itemNames) ?? (lenient ? value : undefined));
    return list && phrases(decision, list);
  },
  readLines(decision, lines) {
    const [labelled] = labelledValues(lines, ['items', 'key phrases', 'key words', ...itemNames]);
    const items = labelled !== undefined ? splitList(labelled, true) : (numberedItems(lines) ?? loneLine(lines));
    return items && phrases(decision, items.map(unwrapped));
  },
};

function loneLine(lines: readonly string[]): string[] | undefined {
  return lines.length === 1 && lines[0]!.includes(';') ? splitList(lines[0]!, false) : undefined;
}

function phrases({ maxItems }: ExtractDecision, values: readonly unknown[]): ExtractReply | undefined {
  const items = distinctTexts(values, maxItems);
  return items.length > 0 ? { items } : undefined;
}

const verdictNames = ['choice', 'verdict', 'success', 'sufficient', 'suffices'];
const reasonNames = ['reason', 'critique', 'explanation', 'because'];
const answerNames = ['answers', 'answer', 'verianswer'];

/** `{"reason":"…","choice":2}`: the reason first, because what is written first informs what follows. */
export const judgeForm: ReplyForm<JudgeDecision> = {
  instruction({ candidates, withAnswers }) {
    const choice =
      candidates.length > 0
        ? 'the number of the right candidate, or 0 where none is right'
        : '1 where the facts suffice to answer, otherwise 0';
    const answers = withAnswers ? ', and "answers", the list of names that answer the question' : '';
    return `Reply with JSON that holds "reason", a few words, then "choice", ${choice}${answers}.`;
  },
  write: ({ withAnswers }, { choice, reason, answers }) => ({
    reason,
    choice: choice + 1,
    ...(withAnswers ? { answers } : {}),
  }),
  shape: ({ candidates, withAnswers }) => ({
    fields: {
      reason: { text: 120 },
      choice: wholeNumbers(0, Math.max(candidates.length, 1)),
      ...(withAnswers ? { answers: { list: { text: longestName }, min: 0, max: mostAnswers } } : {}),
    },
  }),
  read(decision, value, lenient) {
    const verdict = field(value, 'choice', lenient, verdictNames);
    const choice = lenient ? verdictIndex(decision, verdict) : offeredIndex(verdict, offeredTo(decision), false);
    const answers = field(value, 'answers', lenient, answerNames);
    const list = listOf(answers) ?? (lenient && typeof answers === 'string' ? splitList(answers, false) : []);
    return judged(decision, choice, field(value, 'reason', lenient, reasonNames), list);
  },
  readLines(decision, lines) {
    const [labelled] = labelledValues(lines, verdictNames);
    const [, word, rest] = /^\W*(yes|no)\b\W*(.*)$/is.exec(lines[0] ?? '') ?? [];
    const verdict = labelled ?? (decision.candidates.length === 0 ? word : undefined);
    const [reason = rest] = labelledValues(lines, reasonNames);
    const [answers] = labelledValues(lines, answerNames);
    const braced = [...lines.join('\n').matchAll(/\{([^{}]{1,200})\}/g)].map(([, inner]) => inner!);
    const list = answers === undefined ? braced.filter((text) => !/^\s*(?:yes|no)\s*$/i.test(text)) : [answers];
    const given = list.flatMap((text) => splitList(text, false));
    return judged(decision, verdictIndex(decision, verdict), reason, given);
  },
};

/** Without candidates there is one thing to choose: that the evidence suffices. */
function offeredTo(decision: JudgeDecision): OfferedNames {
  return new OfferedNames(decision.candidates.length > 0 ? offeredTexts(decision) : ['yes']);
}

function verdictIndex(decision: JudgeDecision, verdict: unknown): number | undefined {
  const text = typeof verdict === 'string' ? unwrapped(verdict) : verdict;
  const denied = text === false || (typeof text === 'string' && /^(?:no|false|not enough)\W*$/i.test(text));
  if (denied) return -1;
  const agreed = text === true || (typeof text === 'string' && /^(?:yes|true|enough)\W*$/i.test(text));
  if (agreed && decision.candidates.length === 0) return 0;
  return offeredIndex(text, offeredTo(decision), true);
}

function judged(
  decision: JudgeDecision,
  choice: number | undefined,
  reason: unknown,
  answers: readonly unknown[],
): JudgeReply | undefined {
  if (choice === undefined) return undefined;
  const given = decision.withAnswers && choice >= 0 ? distinctTexts(answers, 200) : [];
  return { choice, reason: textOf(reason) ?? '', answers: given };
}

/** Names in one list of answers: enough for nearly every question, few enough for a model that never stops. */
export const mostAnswers = 20;
const longestName = 100;

/** Text for abstaining: small models would always write an empty list if it were allowed. */
const noAnswer = 'no answer';
const answerLabels = ['answer', 'finalanswer', 'result'];
const reasoningNames = ['reason', 'thoughts', 'steps', 'explanation'];

/**
 * `{"answers":["…"]}`, or `no answer`; numbers where the answers stand numbered in the prompt; `{"answer":"true"}` for
 * a statement; `reasoning` before it if requested.
 */
export const answerForm: ReplyForm<AnswerDecision> = {
  instruction({ form, withReasoning, allowed }) {
    const holds = `Reply with JSON that holds ${withReasoning ? '"reasoning", short steps, then ' : ''}`;
    if (form === 'truth') return `${holds}"answer", which is "true", "false" or "unknown".`;
    return allowed
      ? `${holds}"answers", the list of the numbers of the right candidates, best first, or 0 alone.`
      : `${holds}"answers", the list of names, best first, or "${noAnswer}" alone.`;
  },
  write(decision, { answers, reasoning = '' }) {
    const before = decision.withReasoning ? { reasoning } : {};
    if (decision.form === 'truth') return { ...before, answer: answers[0] ?? 'unknown' };
    const { allowed } = decision;
    if (answers.length === 0) return { ...before, answers: [allowed ? 0 : noAnswer] };
    return { ...before, answers: allowed ? answers.map((answer) => allowed.indexOf(answer) + 1) : answers };
  },
  shape({ form, withReasoning, allowed }) {
    const fields: Record<string, ReplyShape> = withReasoning ? { reasoning: { text: 400 } } : {};
    if (form === 'truth') return { fields: { ...fields, answer: { oneOf: ['true', 'false', 'unknown'] } } };
    const max = Math.min(mostAnswers, allowed?.length ?? mostAnswers);
    const list = allowed ? wholeNumbers(0, allowed.length) : { text: longestName };
    return { fields: { ...fields, answers: { list, min: 1, max: Math.max(max, 1) } } };
  },
  read(decision, value, lenient) {
    const reasoning = decision.withReasoning ? field(value, 'reasoning', lenient, reasoningNames) : undefined;
    if (decision.form === 'truth') {
      return answered(truthOf(field(value, 'answer', lenient, ['answers', 'verdict']) ?? value, lenient), reasoning);
    }
    const keyed = field(value, 'answers', lenient, answerLabels);
    const written = keyed ?? (lenient ? value : undefined);
    const list = listOf(written) ?? (lenient && isPlain(keyed) ? splitList(String(keyed), false) : undefined);
    return list && answered(answersOf(decision, list, lenient, keyed !== undefined), reasoning);
  },
  readLines(decision, lines) {
    const text = lines.join('\n');
    const said = /\b(?:answers?|it)\s+(?:is|are|would be)(?:\s*:)?\s+([^\n]{1,400})/gi;
    const spoken = [...text.matchAll(said)].at(-1)?.[1];
    const labelled = labelledValues(lines, ['answers', 'final answer', 'final answers', ...answerLabels]).at(-1);
    const value = labelled ?? spoken;
    const reasoning =
      decision.withReasoning && value !== undefined ? text.slice(0, text.lastIndexOf(value)) : undefined;
    if (decision.form === 'truth') return answered(truthOf(value ?? lines[0], true), reasoning);
    const items = value !== undefined ? splitList(unwrapped(value), false) : (numberedItems(lines) ?? shortLine(lines));
    if (!items) return undefined;
    const abstains = /^(?:unknown|none|n\/a|i (?:do not|don['’]t) know)\W*$/i;
    if (items.length === 1 && abstains.test(items[0]!)) return answered([], reasoning);
    return answered(answersOf(decision, items.map(unwrapped), true, true), reasoning);
  },
};

function answersOf(decision: AnswerDecision, list: readonly unknown[], lenient: boolean, keyed: boolean) {
  if (!decision.allowed) {
    const entries = lenient && keyed ? list.map((entry) => (isPlain(entry) ? String(entry) : entry)) : list;
    const texts = distinctTexts(entries, 200);
    if (texts.length === 1 && texts[0]!.toLowerCase() === noAnswer) return [];
    return list.length > 0 && texts.length === 0 ? undefined : texts;
  }
  const offered = new OfferedNames(offeredTexts(decision));
  const indices = list.map((entry) => offeredIndex(entry, offered, lenient)).filter((index) => index !== undefined);
  if (list.length > 0 && indices.length === 0) return undefined;
  return [...new Set(indices.filter((index) => index >= 0))].map((index) => decision.allowed![index]!);
}

function truthOf(value: unknown, lenient: boolean): string[] | undefined {
  const single: unknown = lenient && Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (lenient && typeof single === 'boolean') return [String(single)];
  if (typeof single !== 'string') return undefined;
  const word = lenient ? /^\W*([a-z]+)\b/i.exec(single)?.[1]?.toLowerCase() : single;
  if (word === 'unknown') return [];
  if (word === 'true' || (lenient && word === 'yes')) return ['true'];
  return word === 'false' || (lenient && word === 'no') ? ['false'] : undefined;
}

const isPlain = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

/** A reply that is nothing but a name or a list of names; what begins like JSON would have been read before. */
function shortLine(lines: readonly string[]): string[] | undefined {
  const [line = '', ...others] = lines;
  const plain = line !== '' && others.length === 0 && line.length <= 200 && !/^[{[]/.test(line);
  return plain ? splitList(line, false) : undefined;
}

function answered(answers: string[] | undefined, reasoning: unknown): AnswerReply | undefined {
  const text = textOf(reasoning);
  return answers && { answers, ...(text === undefined ? {} : { reasoning: text }) };
}
