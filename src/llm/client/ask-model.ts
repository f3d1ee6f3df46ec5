/** One request, answered from the store where it was answered before. */
import { WorkbenchError } from '../../run/errors.js';
import type { Decision, ReplyOf } from '../decision.js';
import { writeReply } from '../decisions/reply-forms.js';
import type { Completion, CompletionRequest, LanguageModel } from '../language-model.js';
import { completionKey, type CompletionStore, type StoredFailure } from './completion-store.js';

/** How long a call took: apart from the ledger, because no two runs agree on it. */
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
 * Asks the model what the store does not have, and stores what it says. Equal requests under way at once are one.
 * @param choices texts to be scored instead of writing
 * @throws WorkbenchError `data` in a replay for a completion that was not stored; what the model throws, which is stored
 */
export type AskModel = (
  request: CompletionRequest,
  choices?: readonly string[],
) => Promise<{ /** That it is stored under. */ key: string; completion: Completion }>;

/** @param onTiming called after every call */
export function modelAsker(
  model: LanguageModel,
  store: CompletionStore,
  onTiming: (timing: CallTiming) => void = () => {},
): AskModel {
  const underWay = new Map<string, Promise<Completion>>();

  async function ask(key: string, request: CompletionRequest, choices: readonly string[] | undefined) {
    const { phase, questionId: question } = request.decision;
    try {
      const completion = choices
        ? await completeByScore(model.scoreChoices!.bind(model), request, choices)
        : await model.complete(request);
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

  return async (request, choices) => {
    const { decision, signal: _, ...parts } = request;
    const key = completionKey({
      ...parts,
      model: model.id,
      ...(choices && { choices }),
      salt: model.simulated ? saltOf(request) : '',
    });
    const started = performance.now();
    const stored = store.completion(key);
    const shared = stored ?? underWay.get(key);
    if (!shared && store.readOnly) throw replayError(request, store.failure(key));
    let asking: Promise<Completion> | undefined;
    if (!shared) {
      asking = ask(key, request, choices);
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

/** What a replay throws in the place of a completion: what the model threw then, or that the store lacks it. */
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
async function completeByScore(
  scoreChoices: NonNullable<LanguageModel['scoreChoices']>,
  request: CompletionRequest,
  texts: readonly string[],
): Promise<Completion> {
  const { logProbs, usage } = await scoreChoices(request, texts);
  const best = logProbs.indexOf(logProbs.reduce((most, logProb) => Math.max(most, logProb), -Infinity));
  return { text: texts[Math.max(best, 0)]!, ...usage, stop: 'end' };
}

function choices(count: number, allowNone: boolean): number[] {
  const offered = Array.from({ length: count }, (_, i) => i);
  return allowNone ? [-1, ...offered] : offered;
}
