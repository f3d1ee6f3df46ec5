import type { ExtractDecision, ExtractReply } from '../../decision.js';
import type { ReplyForm } from '../reply-form.js';
import { labelledValues, numberedItems, splitList } from '../reply-lines.js';
import { distinctTexts, field, listOf, unwrapped } from '../reply-values.js';

const otherNames = ['phrases', 'keyphrases', 'keywords', 'clues', 'entities'];

/** `{"items":["…"]}`: phrases, different ones. */
export const extractForm: ReplyForm<ExtractDecision> = {
  instruction: () => 'Reply with JSON that holds "items", the list of phrases.',
  limits: ({ maxItems }) => `Write at most ${maxItems} phrases.`,
  write: (_, { items }) => ({ items }),
  shape: ({ maxItems }) => ({ fields: { items: { list: { text: 80 }, min: 1, max: maxItems } } }),
  read(decision, value, lenient) {
    const list = listOf(field(value, 'items', lenient, otherNames) ?? (lenient ? value : undefined));
    return list && reply(decision, list);
  },
  readLines(decision, lines) {
    const [labelled] = labelledValues(lines, ['items', 'key phrases', 'key words', ...otherNames]);
    const items = labelled !== undefined ? splitList(labelled, true) : (numberedItems(lines) ?? loneLine(lines));
    return items && reply(decision, items.map(unwrapped));
  },
};

function loneLine(lines: readonly string[]): string[] | undefined {
  return lines.length === 1 && lines[0]!.includes(';') ? splitList(lines[0]!, false) : undefined;
}

function reply({ maxItems }: ExtractDecision, values: readonly unknown[]): ExtractReply | undefined {
  const items = distinctTexts(values, maxItems);
  return items.length > 0 ? { items } : undefined;
}
