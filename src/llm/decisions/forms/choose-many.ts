import type { ChooseManyDecision, ChooseManyReply } from '../../decision.js';
import { offeredTexts } from '../candidate-texts.js';
import type { ReplyForm } from '../reply-form.js';
import { labelledValues, splitList } from '../reply-lines.js';
import { wholeNumbers } from '../reply-shape.js';
import { field, listOf, offeredIndex, writtenIndex } from '../reply-values.js';

const otherNames = ['choice', 'candidates', 'selected', 'answers', 'answer'];

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
    const list = listOf(field(value, 'choices', lenient, otherNames) ?? (lenient ? value : undefined));
    if (!list) return undefined;
    const offered = offeredTexts(decision);
    return reply(
      decision,
      list.map((entry) => offeredIndex(entry, offered, lenient)),
    );
  },
  readLines(decision, lines) {
    const offered = offeredTexts(decision);
    const labelled = labelledValues(lines, ['choices', ...otherNames]);
    const parts = (labelled.length > 0 ? labelled : lines).flatMap((line) =>
      writtenIndex(line, offered) === undefined ? splitList(line, /^[\d\s,]+$/.test(line)) : [line],
    );
    const meant = parts.map((part) => writtenIndex(part, offered)).filter((index) => index !== undefined);
    return meant.length > 0 ? reply(decision, meant) : undefined;
  },
};

/** Unreadable where entries were written but none can be meant: that is no "none". */
function reply(
  { maxChoices }: ChooseManyDecision,
  meant: readonly (number | undefined)[],
): ChooseManyReply | undefined {
  const known = meant.filter((index) => index !== undefined);
  if (meant.length > 0 && known.length === 0) return undefined;
  const chosen = new Set(known.filter((index) => index >= 0));
  return { choices: [...chosen].slice(0, maxChoices) };
}
