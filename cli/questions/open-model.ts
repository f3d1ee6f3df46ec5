/** From `--model` to whoever answers questions: a real model, or the simulated one that knows the gold. */
import type { QuestionSample } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { openRealModel } from '../open-real-model.js';

/** Agents that answer from a model's memory, which nothing simulates. */
const withoutEvidence: readonly string[] = ['io', 'cot'];

/**
 * Opens a model for agents on questions.
 * @param agents names of the agents that will ask it
 * @throws as `openRealModel`; WorkbenchError `usage` for a simulated model that does not suit an agent
 */
export async function openModel(
  spec: string,
  {
    graph,
    samples,
    seed,
    set,
  }: { graph: Graph; samples: readonly QuestionSample[]; seed: number; set: readonly string[] },
  agents: readonly string[],
): Promise<LanguageModel> {
  const { openOracle, oracleError } = await import('../../evaluation/oracle/open-oracle.js');
  const error = oracleError(spec);
  if (error === undefined) return openRealModel(spec, set);
  const unfit = agents.find((agent) => withoutEvidence.includes(agent));
  if (unfit === undefined) return openOracle({ graph, samples, error, seed });
  throw new WorkbenchError('usage', `expected a real model for agent ${unfit}, got ${spec}, at --model`, {
    hint: 'IO and CoT answer from a model’s memory, which is not simulated.',
  });
}
