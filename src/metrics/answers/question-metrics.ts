/** Figures of one question. */
import type { Matches } from './matching.js';

/** Of a question that asks for entities; each in [0, 1], a higher one is better. */
export interface AnswerMetrics {
  /** The first item is gold. */
  'hit@1': number;
  /** Some item is. */
  'hit-any': number;
  /** Share of the distinct items that are gold; 0 where nothing was predicted. */
  precision: number;
  /** Share of the golds that were given. */
  recall: number;
  f1: number;
  /** The items are the golds, no more and no fewer. */
  exact: number;
  /** Some gold was given, or stands in the reply. */
  partial: number;
  /** Every gold was given, or stands in the reply. */
  complete: number;
}

/**
 * Figures of a question with golds; one without is left out by the caller and counted.
 * @param numGolds at least 1
 * @throws RangeError without golds: a score of 1 for saying nothing, or 0 for it, would both be made up
 */
export function answerMetrics({ items, strict, lenient }: Matches, numGolds: number): AnswerMetrics {
  if (numGolds < 1) throw new RangeError(`expected at least one gold answer, got ${numGolds}`);
  const right = items.filter((golds) => golds.length > 0).length;
  const precision = items.length === 0 ? 0 : right / items.length;
  const recall = strict.length / numGolds;
  return {
    'hit@1': Number((items[0]?.length ?? 0) > 0),
    'hit-any': Number(right > 0),
    precision,
    recall,
    f1: right === 0 ? 0 : (2 * precision * recall) / (precision + recall),
    exact: Number(precision === 1 && recall === 1),
    ...lenientMetrics(lenient, numGolds),
  };
}

/** Partial and complete match of a set of matched golds: FiSKE's two figures. */
export function lenientMetrics(
  lenient: readonly number[],
  numGolds: number,
): Pick<AnswerMetrics, 'partial' | 'complete'> {
  return { partial: Number(lenient.length > 0), complete: Number(lenient.length === numGolds) };
}

/** Partial and complete match of what two agents found together: the `X + IO` rows of FiSKE's table. */
export function unionMetrics(
  a: readonly number[],
  b: readonly number[],
  numGolds: number,
): Pick<AnswerMetrics, 'partial' | 'complete'> {
  return lenientMetrics([...new Set([...a, ...b])], numGolds);
}

/** Whether a truth question was answered right; saying nothing is wrong. */
export function truthAccuracy(said: boolean | undefined, truth: boolean): number {
  return Number(said === truth);
}
