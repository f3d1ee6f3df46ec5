/** Calls of a replay: answered from the store of an evaluation, by a model that is not there. */
import type { QuestionTask } from '../../datasets/question.js';
import { openCompletionStore, replayModel } from '../../src/llm/client/completion-store.js';
import { createClients, type QuestionClient } from '../../src/llm/client/create-clients.js';
import type { AskedEvaluation, EvaluationFiles } from './evaluation-folder.js';
import { clientSettings } from './run-question-evaluation.js';

/** @throws WorkbenchError `data` where the store is missing, broken or empty */
export function openReplayCalls(
  files: Pick<EvaluationFiles, 'completions'>,
  asked: AskedEvaluation,
): { openCalls(task: QuestionTask): QuestionClient; close(): void } {
  const store = openCompletionStore(files.completions, { readOnly: true });
  try {
    const clients = createClients({ ...clientSettings(asked), model: replayModel(store), store });
    return { openCalls: (task) => clients.clientFor(task.id), close: () => store.close() };
  } catch (error) {
    store.close();
    throw error;
  }
}
