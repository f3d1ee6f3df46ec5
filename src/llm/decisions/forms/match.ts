import type { MatchDecision, MatchReply } from '../../decision.js';
import { offeredTexts } from '../candidate-texts.js';
import { shownName } from '../prompt-text.js';
import type { ReplyForm } from '../reply-form.js';
import { wholeNumbers } from '../reply-shape.js';
import { field, listOf, offeredIndex, wholeNumber } from '../reply-values.js';

/** `{"map":[[2,1,9]]}`: candidate, target, score. Lists of three cost less than half the tokens of objects. */
export const matchForm: ReplyForm<MatchDecision> = {
  instruction: () =>
    'Reply with JSON that holds "map", a list of [candidate, target, score]: the numbers of a candidate and a target that belong together, and how well, from 1 to 10. Leave out all other pairs.',
  limits: () => '',
  write: (_, { matches }) => ({
    map: matches.map(({ candidate, target, score }) => [candidate + 1, target + 1, score]),
  }),
  shape({ candidates, targets }) {
    const entry = {
      tuple: [wholeNumbers(1, candidates.length), wholeNumbers(1, targets.length), wholeNumbers(0, 10)],
    };
    // A model that never stops must not write every pair; more than that is still read.
    const pairs = candidates.length * targets.length;
    return {
      fields: { map: { list: entry, min: 0, max: Math.min(pairs, Math.max(candidates.length, 2 * targets.length)) } },
    };
  },
  read(decision, value, lenient) {
    const list = listOf(field(value, 'map', lenient, ['matches', 'mapping']) ?? (lenient ? value : undefined));
    return list && reply(decision, lenient && isEntry(list) ? [list] : list, lenient);
  },
  readLines(decision, lines) {
    const entries = lines.flatMap((line) => {
      // Numbers with nothing but separators between them: digits inside names are never read.
      const numbers = /^[\s([]*(\d{1,4})[\s,;:|()>=-]+(\d{1,4})[\s,;:|()>=-]+(\d{1,2})[\s)\].,;]*$/.exec(line);
      return numbers ? [numbers.slice(1)] : [];
    });
    return entries.length > 0 ? reply(decision, entries, true) : undefined;
  },
};

function isEntry(list: readonly unknown[]): boolean {
  return list.length === 3 && list.every((value) => typeof value === 'number' || typeof value === 'string');
}

/** The best score of a pair counts. Unreadable where entries were written but none can be meant. */
function reply(decision: MatchDecision, entries: readonly unknown[], lenient: boolean): MatchReply | undefined {
  const offered = offeredTexts(decision);
  const targets = decision.targets.map(shownName);
  const matches = new Map<string, MatchReply['matches'][number]>();
  for (const entry of entries) {
    const [first, second, third] = Array.isArray(entry)
      ? (entry as unknown[])
      : [
          field(entry, 'c', lenient, ['candidate', 'cand']),
          field(entry, 't', lenient, ['target', 'clue']),
          field(entry, 's', lenient, ['score']),
        ];
    const candidate = offeredIndex(first, offered, lenient) ?? -1;
    const target = offeredIndex(second, targets, lenient) ?? -1;
    const score = wholeNumber(third, 0, 10, lenient);
    if (candidate < 0 || target < 0 || score === undefined) continue;
    const key = `${candidate} ${target}`;
    if (score > (matches.get(key)?.score ?? -1)) matches.set(key, { candidate, target, score });
  }
  return entries.length > 0 && matches.size === 0 ? undefined : { matches: [...matches.values()] };
}
