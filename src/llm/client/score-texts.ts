/** Scores of a list of texts above their priors; both are stored. */
import type { Decision } from '../decision.js';
import type { TextQuery } from '../decisions/likelihood/by-likelihood.js';
import { plainContinuation, plainHead } from '../decisions/likelihood/plain-text.js';
import { type LanguageModel, type ScoreRequest, sumUsage, type TextScores, type Usage } from '../language-model.js';
import { WorkbenchError } from '../../run/errors.js';
import { type CallTiming, rememberedCalls, replayError, saltOf } from './ask-model.js';
import { type CompletionStore, type StoredPriors, type StoredScores, scoresKey } from './completion-store.js';

/** Log-probability of a wrong text by a simulated model, and its priors; a right one has 0. */
export const simulatedPrior = -4;

export type ScoreTexts = ReturnType<typeof textScorer>;

/**
 * Scores what the store does not have, and stores it.
 * @param onTiming called after every list
 * @returns scores a list: above its priors, (log p − log prior) / tokens, [texts], of uneven ones by their mean tokens. Throws
 *   WorkbenchError `data` in a replay for scores that were not stored, or for a model that gives no number; what the model throws
 */
export function textScorer(model: LanguageModel, store: CompletionStore, onTiming?: (timing: CallTiming) => void) {
  const priors = priorAsker(model, store);
  const remembered = rememberedCalls<StoredScores>(store, onTiming, (scores) => ({
    ...{ text: '', stop: 'end' },
    ...sumUsage([scores]),
  }));

  return async (query: TextQuery, decision: Decision, signal: AbortSignal | undefined) => {
    const { chosen, body, texts, target, uneven, meant } = query;
    const head = plainHead(chosen);
    const of = scoresKey({ model: model.id, before: head + query.prior });
    const salt = model.simulated ? JSON.stringify([saltOf(decision), target]) : '';
    const key = scoresKey({ model: model.id, before: head + body, texts, salt });
    const scores = await remembered(key, decision, store.scores(key), async () => {
      const common = { head, decision, signal };
      if (!model.simulated) await priors.need(of, texts, { ...common, body: query.prior });
      const request = { ...common, body, meant, target };
      const asked = checked(await model.scoreTexts!(request, texts.map(plainContinuation)), decision);
      const { usages, newPriors } = priors.take(of, texts);
      const stored = { ...listsOf(asked), ...sumUsage([asked.usage, ...usages]) };
      store.addScores(key, head, decision, stored, newPriors);
      return stored;
    });
    const mean = scores.tokens.reduce((sum, tokens) => sum + tokens, 0) / texts.length;
    const above = Float64Array.from(texts, (text, i) => {
      const alone = model.simulated ? ([simulatedPrior, 1] as const) : priors.known(of, text);
      if (!alone) throw replayError(decision);
      if (uneven) return (scores.logProbs[i]! - alone[0]) / mean;
      return scores.logProbs[i]! / scores.tokens[i]! - alone[0] / alone[1];
    });
    return { /** Key in the store. */ key, above, usage: sumUsage([scores]) };
  };
}

interface AnsweredPriors extends StoredPriors {
  usage: Usage;
}

/**
 * Priors of texts, each requested once. They are stored together with the first scores that needed them, so that a
 * failed question leaves no scores without priors.
 */
function priorAsker(model: LanguageModel, store: CompletionStore) {
  // In addition to the store's, for stores that keep nothing.
  const fresh = new Map<string, readonly [logProb: number, tokens: number]>();
  const answered = new Map<string, AnsweredPriors>();
  const underWay = new Map<string, Promise<void>>();
  const keyOf = (of: string, text: string) => `${of} ${text}`;
  const known = (of: string, text: string) => fresh.get(keyOf(of, text)) ?? store.prior(of, text);

  async function ask(of: string, texts: readonly string[], request: Omit<ScoreRequest, 'meant'>): Promise<void> {
    const meant = texts.map((_, i) => i);
    const scores = checked(
      await model.scoreTexts!({ ...request, meant }, texts.map(plainContinuation)),
      request.decision,
    );
    const batch = { of, texts: [...texts], ...listsOf(scores), usage: scores.usage };
    texts.forEach((text, i) => {
      fresh.set(keyOf(of, text), [scores.logProbs[i]!, scores.tokens[i]!]);
      answered.set(keyOf(of, text), batch);
    });
  }

  return {
    known,
    /** @throws errors of the model, for texts requested by this call */
    async need(of: string, texts: readonly string[], request: Omit<ScoreRequest, 'meant'>): Promise<void> {
      const distinct = [...new Set(texts)];
      for (;;) {
        const unknown = distinct.filter((text) => !known(of, text));
        if (unknown.length === 0) return;
        const own = unknown.filter((text) => !underWay.has(keyOf(of, text)));
        const others = new Set(unknown.flatMap((text) => underWay.get(keyOf(of, text)) ?? []));
        if (own.length > 0) {
          const asking = ask(of, own, request).finally(() => own.forEach((text) => underWay.delete(keyOf(of, text))));
          for (const text of own) underWay.set(keyOf(of, text), asking);
          await asking;
        }
        await Promise.allSettled(others);
      }
    },
    /** Answered but not yet stored requests for these texts, merged. */
    take(of: string, texts: readonly string[]): { usages: Usage[]; newPriors?: StoredPriors } {
      const batches = [...new Set(texts.flatMap((text) => answered.get(keyOf(of, text)) ?? []))];
      for (const batch of batches) for (const text of batch.texts) answered.delete(keyOf(of, text));
      if (batches.length === 0) return { usages: [] };
      const all = <One>(list: (batch: AnsweredPriors) => readonly One[]) => batches.flatMap(list);
      const [taken, logProbs, tokens] = [all((one) => one.texts), all((one) => one.logProbs), all((one) => one.tokens)];
      return { usages: batches.map(({ usage }) => usage), newPriors: { of, texts: taken, logProbs, tokens } };
    },
  };
}

const listsOf = ({ logProbs, tokens }: TextScores) => ({ logProbs: [...logProbs], tokens: [...tokens] });

function checked(scores: TextScores, { questionId, phase }: Decision): TextScores {
  const wrong = scores.logProbs.find((logProb) => !(logProb > -Infinity && logProb <= 1e-3));
  if (wrong === undefined) return scores;
  throw new WorkbenchError('data', `expected log-probabilities, got ${wrong}, at question ${questionId} (${phase})`, {
    hint: 'The model file may be damaged: `kgwalk models info` prints its sha256 to compare.',
  });
}
