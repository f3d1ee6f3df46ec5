/** Store that keeps nothing, for clients whose every request is to be computed. */
import type { CompletionStore } from '../../../src/llm/client/completion-store.js';

const nothing = () => undefined;

/** Takes everything and gives nothing back. */
export function forgetfulStore(): CompletionStore {
  return {
    truncatedBytes: 0,
    size: 0,
    readOnly: false,
    model: undefined,
    completion: nothing,
    addCompletion: nothing,
    scores: nothing,
    addScores: nothing,
    prior: nothing,
    cut: nothing,
    addCut: nothing,
    failure: nothing,
    addFailure: nothing,
    describeModel: nothing,
    takeOver: nothing,
    lastHeads: () => [],
    sync: nothing,
    close: nothing,
  };
}
