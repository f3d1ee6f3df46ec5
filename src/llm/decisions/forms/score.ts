import type { ScoreDecision } from '../../decision.js';
import { offeredTexts } from '../candidate-texts.js';
import type { ReplyForm } from '../reply-form.js';
import { labelledValues, splitList } from '../reply-lines.js';
import { wholeNumbers } from '../reply-shape.js';
import { field, listOf, wholeNumber, writtenIndex } from '../reply-values.js';

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
      return reply(
        decision,
        written.length === decision.candidates.length
          ? listOf(written)!.map((score) => wholeNumber(score, 0, 10, lenient))
          : [],
      );
    }
    const pairs = lenient && typeof written === 'object' && written !== null ? Object.entries(written) : [];
    return named(decision, pairs.slice(0, 2 * decision.candidates.length));
  },
  readLines(decision, lines) {
    const [labelled] = labelledValues(lines, ['scores', 'ratings']);
    if (labelled !== undefined) {
      return reply(
        decision,
        splitList(labelled, true).map((score) => wholeNumber(score, 0, 10, true)),
      );
    }
    // The score ends the line: digits before it belong to names.
    return named(
      decision,
      lines.flatMap((line) => {
        const [, name, score] =
          /^(.+?)\s*(?:[:=]|->|→|\(|\s-\s)\s*(?:score\s*[:=]?\s*)?(\d{1,2})(?:\/10)?[.)\s]*$/i.exec(line) ?? [];
        return name === undefined ? [] : [[name, score] as const];
      }),
    );
  },
};

function named(decision: ScoreDecision, pairs: readonly (readonly [string, unknown])[]) {
  const offered = offeredTexts(decision);
  const scores = new Array<number | undefined>(offered.length).fill(undefined);
  for (const [name, score] of pairs) {
    const index = writtenIndex(name, offered);
    if (index === undefined || index < 0) continue;
    if (scores[index] !== undefined) return undefined;
    scores[index] = wholeNumber(score, 0, 10, true);
  }
  return reply(decision, scores);
}

function reply({ candidates }: ScoreDecision, scores: readonly (number | undefined)[]) {
  const known = scores.filter((score) => score !== undefined);
  return known.length === candidates.length && scores.length === known.length ? { scores: known } : undefined;
}
