/** The model of a replay: known by what the store says of it, and never asked. */
import { WorkbenchError } from '../../run/errors.js';
import type { LanguageModel } from '../language-model.js';
import type { CompletionStore } from './completion-store.js';

/**
 * Stands in for the model that wrote the store, so that an evaluation runs again without it.
 * @throws WorkbenchError `data` where no model ever wrote the store
 */
export function replayModel(store: CompletionStore): LanguageModel {
  if (!store.model) {
    throw new WorkbenchError('data', 'expected completions of a model, got none, at the store of the evaluation', {
      hint: 'Evaluations of agents that ask no model have nothing to replay.',
    });
  }
  const { scoresChoices, ...card } = store.model;
  const refuse = () => Promise.reject(new TypeError('expected no request in a replay, got one'));
  return {
    ...card,
    // Nothing waits in a replay: one question after the other.
    concurrency: 1,
    countTokens() {
      throw new TypeError('expected no token count in a replay, got a request for one');
    },
    complete: refuse,
    ...(scoresChoices && { scoreChoices: refuse }),
    dispose: () => Promise.resolve(),
  };
}
