/** Choosing one or several of the candidates. */
import type {
  ChooseManyDecision,
  ChooseManyReply,
  ChooseOneDecision,
  ChooseOneReply,
  MatchDecision,
  MatchReply,
  ScoreDecision,
} from '../../decision.js';
import { offeredTexts, shownName } from '../prompt-text.js';
import { type ReplyForm, wholeNumbers } from '../reply-form.js';
import {
  field,
  labelledValues,
  listOf,
  offeredIndex,
  OfferedNames,
  splitList,
  wholeNumber,
  writtenIndex,
} from '../reply-values.js';

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
      const scores = list.map((score) => wholeNumber(score, 0, 10, lenient));
      return scored(decision, scores);
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
    const entry = { tuple: [wholeNumbers(1, candidates.length), wholeNumbers(1, targets.length), wholeNumbers(0, 10)] };
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
