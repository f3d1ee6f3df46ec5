/** One request, answered from the store where it was answered before. */
import { WorkbenchError } from '../../run/errors.js';
import type { Decision } from '../decision.js';
import type { Completion, CompletionRequest, LanguageModel } from '../language-model.js';
import { completionKey, type CompletionStore, type StoredFailure } from './completion-store.js';

/** Duration of a call; not in the ledger, as it differs between runs. */
export interface CallTiming {
  questionId: string;
  phase: string;
  ms: number;
  /** Nothing was asked: the store had it, or another question under way was asking the same. */
  cacheHit: boolean;
  completion: Completion;
}

/** Takes answers from the store or from the model; equal concurrent calls are one. @param completionOf an answer as it is timed */
export function rememberedCalls<Answer>(
  store: CompletionStore,
  onTiming: ((timing: CallTiming) => void) | undefined,
  completionOf: (answer: Answer) => Completion,
) {
  const underWay = new Map<string, Promise<Answer>>();
  /** @param ask calls the model and stores its answer; errors are stored here */
  return async (key: string, decision: Decision, stored: Answer | undefined, ask: () => Promise<Answer>) => {
    const started = performance.now();
    let answer = stored ?? underWay.get(key);
    const cacheHit = answer !== undefined;
    if (answer === undefined) {
      if (store.readOnly) throw replayError(decision, store.failure(key));
      answer = ask()
        .catch((error: unknown) => {
          const failure = failureOf(error);
          const ends = failure.code === 'stopped' || (error instanceof WorkbenchError && error.fatal);
          if (!ends) store.addFailure(key, failure);
          throw error;
        })
        .finally(() => underWay.delete(key));
      underWay.set(key, answer);
    }
    const answered = await answer;
    const { questionId, phase } = decision;
    onTiming?.({ questionId, phase, ms: performance.now() - started, cacheHit, completion: completionOf(answered) });
    return answered;
  };
}

export type AskModel = ReturnType<typeof modelAsker>;

/**
 * Calls the model for completions missing from the store, and stores them.
 * @returns asks; throws WorkbenchError `data` in a replay for a completion that was not stored; what the model throws, which is stored
 */
export function modelAsker(model: LanguageModel, store: CompletionStore, onTiming?: (timing: CallTiming) => void) {
  const remembered = rememberedCalls<Completion>(store, onTiming, (completion) => completion);
  return async (request: CompletionRequest) => {
    const { decision, signal: _, ...parts } = request;
    const key = completionKey({ ...parts, model: model.id, salt: model.simulated ? saltOf(decision) : '' });
    const completion = await remembered(key, decision, store.completion(key), async () => {
      const completed = await model.complete(request);
      store.addCompletion(key, request, decision, completed);
      return completed;
    });
    return { /** Key in the store. */ key, completion };
  };
}

export function failureOf(error: unknown): StoredFailure {
  if (!(error instanceof WorkbenchError)) {
    return { code: 'failure', message: error instanceof Error ? error.message : String(error) };
  }
  const { code, message, hint } = error;
  return { code, message, hint };
}

/** Error of a replay: the stored error of the model, or that the store lacks the completion. */
export function replayError({ questionId, phase }: Decision, failure?: StoredFailure): WorkbenchError {
  if (failure) return new WorkbenchError(failure.code, failure.message, { hint: failure.hint });
  const place = `question ${questionId} (${phase})`;
  return new WorkbenchError('data', `expected a stored completion, got none, at ${place}`, {
    hint: 'Graph, questions, prompts or settings differ from those of the evaluation.',
  });
}

/** A simulated model knows the question and its entities by id, which equal prompts may not show. */
export function saltOf({ questionId, phase, subjects = [] }: Decision): string {
  return JSON.stringify([questionId, phase, ...subjects]);
}
