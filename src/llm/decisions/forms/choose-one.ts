import type { ChooseOneDecision, ChooseOneReply } from '../../decision.js';
import { offeredTexts } from '../candidate-texts.js';
import type { ReplyForm } from '../reply-form.js';
import { labelledValues } from '../reply-lines.js';
import { wholeNumbers } from '../reply-shape.js';
import { field, offeredIndex, writtenIndex } from '../reply-values.js';

const otherNames = ['answer', 'candidate', 'selected', 'best', 'index', 'number'];

/** `{"choice":3}`. */
export const chooseOneForm: ReplyForm<ChooseOneDecision> = {
  instruction: ({ allowNone }) =>
    `Reply with JSON that holds "choice", the number of one candidate${allowNone ? ', or 0 where none fits' : ''}.`,
  limits: () => '',
  write: (_, { choice }) => ({ choice: choice + 1 }),
  shape: ({ candidates, allowNone }) => ({ fields: { choice: wholeNumbers(allowNone ? 0 : 1, candidates.length) } }),
  read(decision, value, lenient) {
    const written = field(value, 'choice', lenient, otherNames) ?? (lenient ? value : undefined);
    const single: unknown = lenient && Array.isArray(written) && written.length === 1 ? written[0] : written;
    return reply(decision, offeredIndex(single, offeredTexts(decision), lenient));
  },
  readLines(decision, lines) {
    const offered = offeredTexts(decision);
    const labelled = labelledValues(lines, ['choice', ...otherNames]);
    const meant = (labelled.length > 0 ? labelled : lines).map((line) => writtenIndex(line, offered));
    const different = new Set(meant.filter((index) => index !== undefined));
    return different.size === 1 ? reply(decision, [...different][0]) : undefined;
  },
};

function reply({ allowNone }: ChooseOneDecision, choice: number | undefined): ChooseOneReply | undefined {
  return choice === undefined || (choice < 0 && !allowNone) ? undefined : { choice };
}
