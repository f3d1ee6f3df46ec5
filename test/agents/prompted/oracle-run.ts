/** A question agent on the toy graph of films, asked by the simulated model through the production client. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { questionAgents } from '../../../agents/question-agents.js';
import { openOracle } from '../../../evaluation/oracle/open-oracle.js';
import { createClients } from '../../../src/llm/client/create-clients.js';
import { openCompletionStore } from '../../../src/llm/client/completion-store.js';
import { filmGraph, filmQuestions } from '../../fixtures/toy-questions.js';
import { resourcesOf } from './clock-town.js';

/** How many of the questions were answered with exactly the right entities. */
export async function oracleRun(
  name: string,
  { choices = 'written', ...switches }: { choices?: 'written' | 'likelihood'; [name: string]: unknown } = {},
): Promise<{ complete: number; of: number }> {
  const graph = filmGraph();
  const samples = filmQuestions(graph);
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-oracle-'));
  const store = openCompletionStore(join(folder, 'completions.jsonl'));
  try {
    const model = openOracle({ graph, samples, error: 0, seed: 3 });
    const clients = createClients({ model, store, budget: 30, budgetMode: 'strict', seed: 0, choices });
    const agent = await questionAgents.create(name, resourcesOf(graph), switches);
    let complete = 0;
    for (const { task, gold } of samples) {
      const { client } = clients.clientFor(task.id);
      const { entities } = await agent.answer(task, { client, trace: () => {} });
      const right = new Set(gold.answers.map(({ entity }) => entity));
      if (entities.length === right.size && entities.every((entity) => right.has(entity))) complete++;
    }
    return { complete, of: samples.length };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}
