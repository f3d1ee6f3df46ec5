/** Scores of candidates, and of pairs of candidates and targets. */
import type { MatchDecision, MatchReply, ScoreDecision } from '../../decision.js';
import { offeredTexts, shownName } from '../prompt-text.js';
import { type ReplyForm, wholeNumbers } from '../reply-form.js';
import {
  field,
  labelledValues,
  listOf,
  OfferedNames,
  offeredIndex,
  splitList,
  wholeNumber,
  writtenIndex,
} from '../reply-values.js';

/** `{"scores":[7,0,3]}`, one a candidate; never filled up where some are missing. */
export const scoreForm: ReplyForm<ScoreDecision> = {
  instruction: () =>
    'Reply with JSON that holds "scores", the list of whole numbers from 0 (useless) to 10 (certain), one for each candidate in order.',
  limits: ({ candidates }) => `Write exactly ${candidates.length} ${candidates.length === 1 ? 'score' : 'scores'}.`,
  write: (_, { scores }) => ({ scores }),
  shape: ({ candidates: { length } }) => ({
    fields: { scores: { list: wholeNumbers(0, 10), min: length, max: length } },
  }),
  read(decision, value, lenient) {
    const written = field(value, 'scores', lenient, ['score', 'ratings']) ?? (lenient ? value : undefined);
    if (Array.isArray(written)) {
      const list = written.length === decision.candidates.length ? listOf(written)! : [];
      return scored(
        decision,
        list.map((score) => wholeNumber(score, 0, 10, lenient)),
      );
    }
    const pairs = lenient && typeof written === 'object' && written !== null ? Object.entries(written) : [];
    return scoredByName(decision, pairs.slice(0, 2 * decision.candidates.length));
  },
  readLines(decision, lines) {
    const [labelled] = labelledValues(lines, ['scores', 'ratings']);
    if (labelled !== undefined) {
      const scores = splitList(labelled, true).map((score) => wholeNumber(score, 0, 10, true));
      return scored(decision, scores);
    }
    // The score ends the line: digits before it belong to names.
    const pairs = lines.flatMap((line) => {
      const [, name, score] =
        /^(.+?)(?:[:=]|->|→|\(|(?<=\s)-\s)\s*(?:score(?:\s*[:=])?\s*)?(\d{1,2})(?:\/10)?[.)\s]*$/i.exec(line) ?? [];
      return name === undefined ? [] : [[name.trimEnd(), score] as const];
    });
    return scoredByName(decision, pairs);
  },
};

function scoredByName(decision: ScoreDecision, pairs: readonly (readonly [string, unknown])[]) {
  const offered = new OfferedNames(offeredTexts(decision));
  const scores = new Array<number | undefined>(offered.names.length).fill(undefined);
  for (const [name, score] of pairs) {
    const index = writtenIndex(name, offered);
    if (index === undefined || index < 0) continue;
    if (scores[index] !== undefined) return undefined;
    scores[index] = wholeNumber(score, 0, 10, true);
  }
  return scored(decision, scores);
}

function scored({ candidates }: ScoreDecision, scores: readonly (number | undefined)[]) {
  const known = scores.filter((score) => score !== undefined);
  return known.length === candidates.length && scores.length === known.length ? { scores: known } : undefined;
}

/** `{"map":[[2,1,9]]}`: candidate, target, score. Lists of three cost less than half the tokens of objects. */
export const matchForm: ReplyForm<MatchDecision> = {
  instruction: () =>
    'Reply with JSON that holds "map", a list of [candidate, target, score]: the numbers of a candidate and a target that belong together, and how well, from 1 to 10. Leave out all other pairs.',
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
    return list && matched(decision, lenient && isEntry(list) ? [list] : list, lenient);
  },
  readLines(decision, lines) {
    const entries = lines.flatMap((line) => {
      // Numbers with nothing but separators between them: digits inside names are never read.
      const numbers = /^[\s([]*(\d{1,4})[\s,;:|()>=-]+(\d{1,4})[\s,;:|()>=-]+(\d{1,2})[\s)\].,;]*$/.exec(line);
      return numbers ? [numbers.slice(1)] : [];
    });
    return entries.length > 0 ? matched(decision, entries, true) : undefined;
  },
};

function isEntry(list: readonly unknown[]): boolean {
  return list.length === 3 && list.every((value) => typeof value === 'number' || typeof value === 'string');
}

/** The best score of a pair counts. Unreadable where entries were written but none can be meant. */
function matched(decision: MatchDecision, entries: readonly unknown[], lenient: boolean): MatchReply | undefined {
  const offered = new OfferedNames(offeredTexts(decision));
  const targets = new OfferedNames(decision.targets.map(shownName), offered.effort);
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
