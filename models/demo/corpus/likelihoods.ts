/**
 * Decisions as documents for likelihood: the plain text that is put before what may be chosen, then the words of what is
 * right. Only those words count in full, since only they are scored. Now and then the question is left open, as where it is
 * asked how likely words are by themselves.
 */
import { textQueries, type TextQuery } from '../../../src/llm/decisions/likelihood/by-likelihood.js';
import { plainContinuation, plainHead } from '../../../src/llm/decisions/likelihood/plain-text.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { CorpusDraft, CorpusSource } from './draft.js';
import type { SourcedDecision } from './record-questions.js';

/** Shares of documents with worked examples and without a question. */
export interface LikelihoodOptions {
  /** Share of the documents that begin as every scored text does: worked examples are always the same, and cost tokens. */
  withHead: number;
  /** Share of the documents without question and facts. */
  withoutQuestion: number;
}

/** Weight where several texts are right, or a word is all there is to go by: which text comes is a matter of luck. */
const luckWeight = 0.3;
/** Weight of the tokens of question and facts. */
const bodyWeight = 0.05;

/** A document of every list of texts that decisions are taken by, of which something is right; none of decisions that are written. */
export async function* likelihoodDrafts(
  records: AsyncIterable<SourcedDecision>,
  rng: Rng,
  options: LikelihoodOptions,
): AsyncGenerator<CorpusDraft, void> {
  for await (const { decision, rightTexts, source } of records) {
    for (const query of textQueries(decision) ?? []) {
      const right = rightTexts(query);
      const texts = query.texts.filter((_, i) => right[i]);
      if (texts.length > 0) yield likelihoodDraft(query, texts, source, rng, options);
    }
  }
}

function likelihoodDraft(
  { chosen, body, prior }: TextQuery,
  right: readonly string[],
  source: CorpusSource,
  rng: Rng,
  { withHead, withoutQuestion }: LikelihoodOptions,
): CorpusDraft {
  const headed = rng.uniform() < withHead;
  const open = rng.uniform() < withoutQuestion;
  const text = right[rng.integer(right.length)]!;
  const weight = right.length > 1 || chosen === 'clue' ? luckWeight : 1;
  return {
    ...{ kind: 'likelihood', phase: open ? `${chosen}-alone` : chosen, source },
    segments: [
      { special: 'bos', weight: 0 },
      ...(headed ? [{ text: plainHead(chosen), weight: 0 }] : []),
      { text: open ? prior : body, weight: open ? 0 : bodyWeight },
      { text: plainContinuation(text), weight },
      { special: 'eos', weight },
    ],
  };
}
