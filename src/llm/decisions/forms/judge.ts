import type { JudgeDecision, JudgeReply } from '../../decision.js';
import { offeredTexts } from '../candidate-texts.js';
import type { ReplyForm } from '../reply-form.js';
import { labelledValues, splitList } from '../reply-lines.js';
import { wholeNumbers } from '../reply-shape.js';
import { distinctTexts, field, listOf, offeredIndex, textOf, unwrapped } from '../reply-values.js';
import { longestName, mostAnswers } from './answer-limits.js';

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
  limits: () => '',
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
    const choice = lenient ? verdictIndex(decision, verdict) : offeredIndex(verdict, offered(decision), false);
    const answers = field(value, 'answers', lenient, answerNames);
    const list = listOf(answers) ?? (lenient && typeof answers === 'string' ? splitList(answers, false) : []);
    return reply(decision, choice, field(value, 'reason', lenient, reasonNames), list);
  },
  readLines(decision, lines) {
    const [labelled] = labelledValues(lines, verdictNames);
    const [, word, rest] = /^\W*(yes|no)\b\W*(.*)$/is.exec(lines[0] ?? '') ?? [];
    const verdict = labelled ?? (decision.candidates.length === 0 ? word : undefined);
    const [reason = rest] = labelledValues(lines, reasonNames);
    const [answers] = labelledValues(lines, answerNames);
    const braced = [...lines.join('\n').matchAll(/\{([^{}]{1,200})\}/g)].map(([, inner]) => inner!);
    const list = answers === undefined ? braced.filter((text) => !/^\s*(?:yes|no)\s*$/i.test(text)) : [answers];
    return reply(
      decision,
      verdictIndex(decision, verdict),
      reason,
      list.flatMap((text) => splitList(text, false)),
    );
  },
};

/** Without candidates there is one thing to choose: that the evidence suffices. */
function offered(decision: JudgeDecision): string[] {
  return decision.candidates.length > 0 ? offeredTexts(decision) : ['yes'];
}

function verdictIndex(decision: JudgeDecision, verdict: unknown): number | undefined {
  const text = typeof verdict === 'string' ? unwrapped(verdict) : verdict;
  const denied = text === false || (typeof text === 'string' && /^(?:no|false|not enough)\W*$/i.test(text));
  if (denied) return -1;
  const agreed = text === true || (typeof text === 'string' && /^(?:yes|true|enough)\W*$/i.test(text));
  if (agreed && decision.candidates.length === 0) return 0;
  return offeredIndex(text, offered(decision), true);
}

function reply(
  decision: JudgeDecision,
  choice: number | undefined,
  reason: unknown,
  answers: readonly unknown[],
): JudgeReply | undefined {
  if (choice === undefined) return undefined;
  const given = decision.withAnswers && choice >= 0 ? distinctTexts(answers, 200) : [];
  return { choice, reason: textOf(reason) ?? '', answers: given };
}
