/** From a decision to a request that fits the model's context. */
import type { Decision } from '../decision.js';
import type { Dropped, Fitted } from '../decisions/fit-to-context.js';
import { fitToContext, withoutDropped } from '../decisions/fit-to-context.js';
import { reAskReminder, renderPrompt } from '../decisions/render-prompt.js';
import { maxReplyTokens, replyFormat } from '../decisions/reply-format.js';
import type { CompletionRequest, LanguageModel } from '../language-model.js';
import { failureOf, replayError } from './ask-model.js';
import type { CompletionStore } from './completion-store.js';
import { promptKey } from './completion-store.js';

/** Tokens that a chat template puts around a prompt, at most. */
const templateTokens = 64;

const nothingDropped: Dropped = { history: 0, examples: 0, evidence: 0, candidates: 0 };

/**
 * The decision with as much as the context holds. A replay, which has no tokenizer, cuts what was cut then.
 * @throws WorkbenchError `data` where not even the question fits; a replay as the evaluation did
 */
export function fitted<D extends Decision>(decision: D, model: LanguageModel, store: CompletionStore): Fitted<D> {
  const key = () => promptKey(model.id, renderPrompt(decision));
  if (store.readOnly) {
    const whole = key();
    const failure = store.failure(whole);
    if (failure) throw replayError({ decision }, failure);
    const dropped = store.cut(whole);
    if (!dropped) return { decision, dropped: nothingDropped };
    return { decision: withoutDropped(decision, dropped), dropped };
  }
  const remember = (whole: string, dropped: Dropped) => {
    if (!store.cut(whole)) store.addCut(whole, dropped);
  };
  const countTokens = (text: string) => model.countTokens(text);
  const apart = replyTokens(decision, model) + templateTokens + countTokens(reAskReminder(decision));
  try {
    const fit = fitToContext(decision, { maxPromptTokens: model.contextLength - apart, countTokens });
    if (fit.decision !== decision) remember(key(), fit.dropped);
    return fit;
  } catch (error) {
    store.addFailure(key(), failureOf(error));
    throw error;
  }
}

/** Attempt 1 reminds of the form below a body that is otherwise the same. */
export function requestOf(
  decision: Decision,
  model: LanguageModel,
  call: Pick<CompletionRequest, 'temperature' | 'seed' | 'attempt' | 'signal'>,
): CompletionRequest {
  const { system, head, body } = renderPrompt(decision);
  return {
    system,
    head,
    body: call.attempt === 0 ? body : `${body}\n${reAskReminder(decision)}\nReply:`,
    format: replyFormat(decision),
    maxTokens: replyTokens(decision, model),
    ...call,
    decision,
  };
}

/** A reply may take half of a context at most. */
function replyTokens(decision: Decision, { contextLength }: LanguageModel): number {
  return Math.min(maxReplyTokens(decision), Math.floor(contextLength / 2));
}
