/** From `--model` to whoever answers prompts: a file, a server, or the simulated model that knows the gold. */
import type { QuestionSample } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import { WorkbenchError } from '../../src/run/errors.js';

/** Agents that answer from a model's memory, which nothing simulates. */
const withoutEvidence: readonly string[] = ['io', 'cot'];

/**
 * @param agents names of the agents that will ask it
 * @throws WorkbenchError `usage` for what is no model or does not suit an agent; what opening it throws
 */
export async function openModel(
  spec: string,
  { graph, samples, seed }: { graph: Graph; samples: readonly QuestionSample[]; seed: number },
  agents: readonly string[],
): Promise<LanguageModel> {
  const { openOracle, oracleError } = await import('../../evaluation/oracle/open-oracle.js');
  const error = oracleError(spec);
  if (error === undefined) {
    const { openLanguageModel } = await import('../../src/llm/open-model.js');
    return openLanguageModel(spec);
  }
  const unfit = agents.find((agent) => withoutEvidence.includes(agent));
  if (unfit === undefined) return openOracle({ graph, samples, error, seed });
  throw new WorkbenchError('usage', `expected a real model for agent ${unfit}, got ${spec}, at --model`, {
    hint: 'IO and CoT answer from a model’s memory, which is not simulated.',
  });
}
