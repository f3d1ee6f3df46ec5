/** Choosing one or several of the candidates. */
import type { ChooseManyDecision, ChooseManyReply, ChooseOneDecision, ChooseOneReply } from '../../decision.js';
import { offeredTexts } from '../prompt-text.js';
import { type ReplyForm, wholeNumbers } from '../reply-form.js';
import { field, labelledValues, listOf, OfferedNames, offeredIndex, splitList, writtenIndex } from '../reply-values.js';

const choiceNames = ['answer', 'candidate', 'selected', 'best', 'index', 'number'];

/** `{"choice":3}`. */
export const chooseOneForm: ReplyForm<ChooseOneDecision> = {
  instruction: ({ allowNone }) =>
    `Reply with JSON that holds "choice", the number of one candidate${allowNone ? ', or 0 where none fits' : ''}.`,
  write: (_, { choice }) => ({ choice: choice + 1 }),
  shape: ({ candidates, allowNone }) => ({ fields: { choice: wholeNumbers(allowNone ? 0 : 1, candidates.length) } }),
  read(decision, value, lenient) {
    const written = field(value, 'choice', lenient, choiceNames) ?? (lenient ? value : undefined);
    const single: unknown = lenient && Array.isArray(written) && written.length === 1 ? written[0] : written;
    return oneChosen(decision, offeredIndex(single, new OfferedNames(offeredTexts(decision)), lenient));
  },
  readLines(decision, lines) {
    const offered = new OfferedNames(offeredTexts(decision));
    const labelled = labelledValues(lines, ['choice', ...choiceNames]);
    const meant = (labelled.length > 0 ? labelled : lines).map((line) => writtenIndex(line, offered));
    const different = new Set(meant.filter((index) => index !== undefined));
    return different.size === 1 ? oneChosen(decision, [...different][0]) : undefined;
  },
};

function oneChosen({ allowNone }: ChooseOneDecision, choice: number | undefined): ChooseOneReply | undefined {
  return choice === undefined || (choice < 0 && !allowNone) ? undefined : { choice };
}

const choicesNames = ['choice', 'candidates', 'selected', 'answers', 'answer'];

/** `{"choices":[4,1]}`, best first. */
export const chooseManyForm: ReplyForm<ChooseManyDecision> = {
  instruction: () =>
    'Reply with JSON that holds "choices", the list of candidate numbers, best first, empty where none fits.',
  limits: ({ maxChoices }) => `Choose at most ${maxChoices}.`,
  write: (_, { choices }) => ({ choices: choices.map((choice) => choice + 1) }),
  shape({ candidates, maxChoices }) {
    const max = Math.min(maxChoices, candidates.length);
    return { fields: { choices: { list: wholeNumbers(1, Math.max(candidates.length, 1)), min: 0, max } } };
  },
  read(decision, value, lenient) {
    const list = listOf(field(value, 'choices', lenient, choicesNames) ?? (lenient ? value : undefined));
    if (!list) return undefined;
    const offered = new OfferedNames(offeredTexts(decision));
    const meant = list.map((entry) => offeredIndex(entry, offered, lenient));
    return manyChosen(decision, meant);
  },
  readLines(decision, lines) {
    const offered = new OfferedNames(offeredTexts(decision));
    const labelled = labelledValues(lines, ['choices', ...choicesNames]);
    const parts = (labelled.length > 0 ? labelled : lines).flatMap((line) =>
      writtenIndex(line, offered) === undefined ? splitList(line, /^[\d\s,]+$/.test(line)) : [line],
    );
    const meant = parts.map((part) => writtenIndex(part, offered)).filter((index) => index !== undefined);
    return meant.length > 0 ? manyChosen(decision, meant) : undefined;
  },
};

/** Unreadable where entries were written but none can be meant: that is no "none". */
function manyChosen({ maxChoices }: ChooseManyDecision, meant: (number | undefined)[]): ChooseManyReply | undefined {
  const known = meant.filter((index) => index !== undefined);
  if (meant.length > 0 && known.length === 0) return undefined;
  const chosen = new Set(known.filter((index) => index >= 0));
  return { choices: [...chosen].slice(0, maxChoices) };
}
