/** Choosing by the probability of what would be written, instead of writing it. */
import type { Decision, ReplyOf } from '../decision.js';
import { writeReply } from '../decisions/write-reply.js';
import type { Completion, CompletionRequest, LanguageModel } from '../language-model.js';

/**
 * The replies among which log-probabilities decide; undefined for decisions that are more than one choice. The reason of a
 * verdict stays empty.
 */
export function choiceTexts(decision: Decision): string[] | undefined {
  if (decision.kind === 'choose-one') {
    const { candidates, allowNone } = decision;
    return choices(candidates.length, allowNone).map((choice) => writeReply(decision, { choice }));
  }
  if (decision.kind !== 'judge' || decision.withAnswers) return undefined;
  const texts = choices(Math.max(decision.candidates.length, 1), true);
  return texts.map((choice) =>
    writeReply(decision, { choice, reason: '', answers: [] } satisfies ReplyOf<typeof decision>),
  );
}

/**
 * The most probable of the texts, as if it had been written: log-probabilities are summed over tokens, neither divided by
 * length nor calibrated, since the texts differ in a number alone. Ties go to the first.
 */
export async function completeByScore(
  scoreChoices: NonNullable<LanguageModel['scoreChoices']>,
  request: CompletionRequest,
  texts: readonly string[],
): Promise<Completion> {
  const { logProbs, usage } = await scoreChoices(request, texts);
  const best = logProbs.indexOf(logProbs.reduce((most, logProb) => Math.max(most, logProb), -Infinity));
  const { promptTokens, cachedTokens, completionTokens } = usage;
  return { text: texts[Math.max(best, 0)]!, promptTokens, cachedTokens, completionTokens, stop: 'end' };
}

function choices(count: number, allowNone: boolean): number[] {
  const offered = Array.from({ length: count }, (_, i) => i);
  return allowNone ? [-1, ...offered] : offered;
}
