import type { AnswerDecision, AnswerReply } from '../../decision.js';
import { offeredTexts } from '../candidate-texts.js';
import type { ReplyForm } from '../reply-form.js';
import { labelledValues, numberedItems, splitList } from '../reply-lines.js';
import type { ReplyShape } from '../reply-shape.js';
import { wholeNumbers } from '../reply-shape.js';
import { distinctTexts, field, listOf, offeredIndex, textOf, unwrapped } from '../reply-values.js';
import { longestName, mostAnswers } from './answer-limits.js';

/** How a model abstains: small ones take an empty list, where there may be one, whatever is asked. */
const noAnswer = 'no answer';
const otherNames = ['answer', 'finalanswer', 'result'];
const reasoningNames = ['reason', 'thoughts', 'steps', 'explanation'];

/**
 * `{"answers":["…"]}`, one at least, `no answer` where the model abstains; `{"answers":[2]}` where the answers stand numbered in the prompt; `{"answer":"true"}` for a
 * statement; `reasoning` before it where it is asked for.
 */
export const answerForm: ReplyForm<AnswerDecision> = {
  instruction({ form, withReasoning, allowed }) {
    const holds = `Reply with JSON that holds ${withReasoning ? '"reasoning", short steps, then ' : ''}`;
    if (form === 'truth') return `${holds}"answer", which is "true", "false" or "unknown".`;
    return allowed
      ? `${holds}"answers", the list of the numbers of the right candidates, best first, or 0 alone.`
      : `${holds}"answers", the list of names, best first, or "${noAnswer}" alone.`;
  },
  limits: () => '',
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
      return reply(truthOf(field(value, 'answer', lenient, ['answers', 'verdict']) ?? value, lenient), reasoning);
    }
    const keyed = field(value, 'answers', lenient, otherNames);
    const written = keyed ?? (lenient ? value : undefined);
    const list = listOf(written) ?? (lenient && isPlain(keyed) ? splitList(String(keyed), false) : undefined);
    return list && reply(answersOf(decision, list, lenient, keyed !== undefined), reasoning);
  },
  readLines(decision, lines) {
    const text = lines.join('\n');
    const said = /\b(?:answers?|it)\s+(?:is|are|would be)\s*:?\s+([^\n]{1,400})/gi;
    const spoken = [...text.matchAll(said)].at(-1)?.[1];
    const labelled = labelledValues(lines, ['answers', 'final answer', 'final answers', ...otherNames]).at(-1);
    const value = labelled ?? spoken;
    const reasoning =
      decision.withReasoning && value !== undefined ? text.slice(0, text.lastIndexOf(value)) : undefined;
    if (decision.form === 'truth') return reply(truthOf(value ?? lines[0], true), reasoning);
    const items = value !== undefined ? splitList(unwrapped(value), false) : (numberedItems(lines) ?? shortLine(lines));
    if (!items) return undefined;
    const abstains = /^(?:unknown|none|n\/a|i (?:do not|don['’]t) know)\W*$/i;
    if (items.length === 1 && abstains.test(items[0]!)) return reply([], reasoning);
    return reply(answersOf(decision, items.map(unwrapped), true, true), reasoning);
  },
};

/** Unreadable where entries were written but none can be meant. */
function answersOf(decision: AnswerDecision, list: readonly unknown[], lenient: boolean, keyed: boolean) {
  if (!decision.allowed) {
    const texts = distinctTexts(
      lenient && keyed ? list.map((entry) => (isPlain(entry) ? String(entry) : entry)) : list,
      200,
    );
    if (texts.length === 1 && texts[0]!.toLowerCase() === noAnswer) return [];
    return list.length > 0 && texts.length === 0 ? undefined : texts;
  }
  const offered = offeredTexts(decision);
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

function isPlain(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** A reply that is nothing but a name or a list of names; what begins like JSON would have been read before. */
function shortLine(lines: readonly string[]): string[] | undefined {
  return lines.length === 1 && lines[0]!.length <= 200 && !/^[{[]/.test(lines[0]!)
    ? splitList(lines[0]!, false)
    : undefined;
}

function reply(answers: string[] | undefined, reasoning: unknown): AnswerReply | undefined {
  const text = textOf(reasoning);
  return answers && { answers, ...(text === undefined ? {} : { reasoning: text }) };
}
