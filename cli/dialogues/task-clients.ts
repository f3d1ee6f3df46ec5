/** The language model of agents that walk dialogues by prompt, with what it wrote kept beside the other evaluations. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { TaskClient } from '../../agents/prompted/ark/ark-agent.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { runsFolder } from '../../src/run/locations.js';
import { tellTorn } from '../torn-log.js';

/** Calls of a task: one, and one more where its reply could not be read. */
const budget = 2;

/** The options that name a language model. */
export interface ModelFlags {
  model?: string;
  modelSet: string[];
}

/**
 * Opens the model and the store of its completions, `runs/evaluations/dialogues-<model>/completions.jsonl`: what was asked
 * once is not asked again, by whatever evaluation.
 * @param closers called when everything is done
 * @throws WorkbenchError `usage` for a simulated model, and what `openRealModel` throws
 */
export async function openTaskClients(
  { model: spec, modelSet }: ModelFlags,
  closers: (() => Promise<void>)[],
): Promise<(taskId: string) => TaskClient> {
  if (spec?.startsWith('oracle:')) {
    throw new WorkbenchError('usage', `expected a language model, got ${spec}, at --model`, {
      hint: 'Prompts on dialogues take FILE.gguf or http://HOST:PORT/v1#NAME; they are not simulated.',
    });
  }
  const { embeddedChatModel, openRealModel } = await import('../open-real-model.js');
  const { openCompletionStore } = await import('../../src/llm/client/completion-store.js');
  const { createClients } = await import('../../src/llm/client/create-clients.js');
  const { lockFolder } = await import('../../src/run/run-lock.js');
  const { interruptSignal } = await import('../interrupt.js');
  const model = await openRealModel(spec ?? embeddedChatModel('prompts on dialogues'), modelSet);
  closers.push(() => model.dispose());
  const name = createHash('sha256').update(model.id).digest('hex').slice(0, 8);
  const folder = join(runsFolder(), 'evaluations', `dialogues-${name}`);
  const unlock = lockFolder(folder);
  const file = join(folder, 'completions.jsonl');
  const store = openCompletionStore(file);
  tellTorn(file, store.tornBytes);
  closers.push(() => {
    store.close();
    unlock();
    return Promise.resolve();
  });
  const clients = createClients({ model, store, budget, budgetMode: 'strict', seed: 0, signal: interruptSignal() });
  await clients.prime();
  return (taskId) => {
    const { client, totals } = clients.clientFor(taskId);
    return {
      client,
      cost() {
        const { calls, promptTokens, cachedTokens, completionTokens } = totals();
        return { calls, promptTokens, cachedTokens, completionTokens };
      },
    };
  };
}
