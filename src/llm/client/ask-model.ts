/** One request, answered from the store where it was answered before. */
import { WorkbenchError } from '../../run/errors.js';
import type { Completion, CompletionRequest, LanguageModel } from '../language-model.js';
import { completionKey, type CompletionStore, type StoredFailure } from './completion-store.js';

/** Duration of a call; separate from the ledger, as it differs between runs. */
export interface CallTiming {
  questionId: string;
  phase: string;
  /** Milliseconds until the reply was there. */
  ms: number;
  /** Nothing was asked: the store had it, or another question under way was asking the same. */
  cacheHit: boolean;
  completion: Completion;
}

/**
 * Calls the model for completions missing from the store, and stores them. Equal concurrent requests share one call.
 * @throws WorkbenchError `data` in a replay for a completion that was not stored; what the model throws, which is stored
 */
export type AskModel = (
  request: CompletionRequest,
) => Promise<{ /** Key in the store. */ key: string; completion: Completion }>;

/** @param onTiming called after every call */
export function modelAsker(
  model: LanguageModel,
  store: CompletionStore,
  onTiming: (timing: CallTiming) => void = () => {},
): AskModel {
  const underWay = new Map<string, Promise<Completion>>();

  async function ask(key: string, request: CompletionRequest) {
    const { phase, questionId: question } = request.decision;
    try {
      const completion = await model.complete(request);
      store.addCompletion(key, request, { question, phase }, completion);
      return completion;
    } catch (error) {
      const failure = failureOf(error);
      const ends = failure.code === 'stopped' || (error instanceof WorkbenchError && error.fatal);
      if (!ends) store.addFailure(key, failure);
      throw error;
    } finally {
      underWay.delete(key);
    }
  }

  return async (request) => {
    const { decision, signal: _, ...parts } = request;
    const key = completionKey({ ...parts, model: model.id, salt: model.simulated ? saltOf(request) : '' });
    const started = performance.now();
    const stored = store.completion(key);
    const shared = stored ?? underWay.get(key);
    if (!shared && store.readOnly) throw replayError(request, store.failure(key));
    let asking: Promise<Completion> | undefined;
    if (!shared) {
      asking = ask(key, request);
      underWay.set(key, asking);
    }
    const completion = await (shared ?? asking!);
    const { questionId, phase } = decision;
    onTiming({ questionId, phase, ms: performance.now() - started, cacheHit: !asking, completion });
    return { key, completion };
  };
}

export function failureOf(error: unknown): StoredFailure {
  if (!(error instanceof WorkbenchError)) {
    return { code: 'failure', message: error instanceof Error ? error.message : String(error) };
  }
  const { code, message, hint } = error;
  return { code, message, ...(hint !== undefined && { hint }) };
}

/** Error of a replay: the stored error of the model, or that the store lacks the completion. */
export function replayError(
  { decision: { questionId, phase } }: Pick<CompletionRequest, 'decision'>,
  failure?: StoredFailure,
): WorkbenchError {
  if (failure) return new WorkbenchError(failure.code, failure.message, failure.hint ? { hint: failure.hint } : {});
  const place = `question ${questionId} (${phase})`;
  return new WorkbenchError('data', `expected a stored completion, got none, at ${place}`, {
    hint: 'Graph, questions, prompts or settings differ from those of the evaluation.',
  });
}

/** A simulated model knows the question and its entities by id, which equal prompts may not show. */
export function saltOf({
  decision: { questionId, phase, subjects = [] },
}: Pick<CompletionRequest, 'decision'>): string {
  return JSON.stringify([questionId, phase, ...subjects]);
}
