/** Agents by name. Trained walkers are not here: they come out of run folders. */
import type { EmbeddingTable } from '../src/embedding/transe.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import { WorkbenchError } from '../src/run/errors.js';
import { nearestName } from '../src/run/nearest-name.js';
import type { Agent } from './agent.js';
import type { BaselineContext } from './baselines/baseline.js';
import { frequencyBaseline } from './baselines/frequency.js';
import { memoryBaseline } from './baselines/memory.js';
import { popularityBaseline } from './baselines/popularity.js';
import { randomBaseline } from './baselines/random.js';
import { stopPriorBaseline } from './baselines/stop-prior.js';
import { type TextLimits, textSimilarityBaseline } from './baselines/text-similarity.js';
import { transeBaseline } from './baselines/transe.js';
import { arkAgent, arkPrompts, type TaskClient } from './prompted/ark/ark-agent.js';

/** What agents may ask for; costly parts are functions, so that only those who need them pay. */
export interface AgentResources extends BaselineContext {
  /** A TransE table of the graph; the caller keeps it. */
  embedding(): Promise<EmbeddingTable>;
  /** The caller disposes it. */
  encoder(): Promise<StateEncoder>;
  textLimits: TextLimits;
  /** Access to a language model, for agents that walk by prompt; the caller closes it. */
  taskClients(): Promise<(taskId: string) => TaskClient>;
}

/** Makes an agent from what it asks for. */
export type AgentFactory = (resources: AgentResources) => Agent | Promise<Agent>;

const factories: Record<string, AgentFactory> = {
  random: randomBaseline,
  'stop-prior': stopPriorBaseline,
  frequency: frequencyBaseline,
  popularity: popularityBaseline,
  memory: memoryBaseline,
  transe: async (resources) => transeBaseline(resources, await resources.embedding()),
  'text-similarity': async (resources) =>
    textSimilarityBaseline(resources, await resources.encoder(), resources.textLimits),
  ...Object.fromEntries(
    arkPrompts.map((prompt) => [
      prompt,
      async ({ graph, ranking: { beamWidth }, taskClients }: AgentResources) =>
        arkAgent(prompt, { graph, beamWidth, clientFor: await taskClients() }),
    ]),
  ),
};

/** Names that `createAgent` knows. */
export const agentNames: readonly string[] = Object.keys(factories);

/** @throws WorkbenchError `usage` for an unknown name, with the nearest one; and what the resources throw */
export async function createAgent(name: string, resources: AgentResources): Promise<Agent> {
  if (!Object.hasOwn(factories, name)) {
    const near = nearestName(name, agentNames);
    throw new WorkbenchError('usage', `expected an agent (${agentNames.join(', ')}), got ${JSON.stringify(name)}`, {
      hint: near ? `Did you mean "${near}"?` : 'A trained walker is given by the name or folder of its run.',
    });
  }
  return factories[name]!(resources);
}
