/** Agents that answer dialogues: untrained ones by name, trained ones out of their runs. */
import type { EmbeddingTable } from '../src/embedding/transe.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { Agent } from './agent.js';
import { type BaselineContext, randomBaseline, stopPriorBaseline } from './baselines/baseline.js';
import { frequencyBaseline, memoryBaseline, popularityBaseline } from './baselines/frequency.js';
import { type TextLimits, textSimilarityBaseline, transeBaseline } from './baselines/similarity.js';
import type { LoadedWalker, LoadWalkersOptions } from './dialogue-walker/load-walker.js';
import { type DialogueTraining, dialogueWalker } from './dialogue-walker/train.js';
import { MethodRegistry } from './method.js';
import { arkAgent, type ArkPrompt, type TaskClient } from './prompted/ark/ark-agent.js';
import { AgentRegistry, type AgentEntry } from './registry.js';

/** Resources of dialogue agents; costly ones are functions and created on use. */
export interface DialogueAgentResources extends BaselineContext {
  /** A TransE table of the graph; the caller keeps it. */
  embedding(): Promise<EmbeddingTable>;
  /** The caller disposes it. */
  encoder(): Promise<StateEncoder>;
  textLimits: TextLimits;
  /** Access to a language model, for agents that walk by prompt; the caller closes it. */
  taskClients(): Promise<(taskId: string) => TaskClient>;
}

/** Dialogue agents without a run. */
export const dialogueAgents = new AgentRegistry<DialogueAgentResources, Agent>({
  random: { create: randomBaseline },
  'stop-prior': { needs: ['train'], create: stopPriorBaseline },
  frequency: { needs: ['train'], create: frequencyBaseline },
  popularity: { needs: ['train'], create: popularityBaseline },
  memory: { needs: ['train'], create: memoryBaseline },
  transe: {
    needs: ['train', 'embedding'],
    create: async (resources) => transeBaseline(resources, await resources.embedding()),
  },
  'text-similarity': {
    needs: ['train', 'encoder'],
    create: async (resources) => textSimilarityBaseline(resources, await resources.encoder(), resources.textLimits),
  },
  'ark-standard': arkEntry('ark-standard'),
  'ark-normal': arkEntry('ark-normal'),
  'ark-opa': arkEntry('ark-opa'),
});

/** Methods that are trained on dialogues: a line each. */
export const dialogueMethods = new MethodRegistry<DialogueTraining, LoadWalkersOptions, LoadedWalker>({
  'dialogue-walker': dialogueWalker,
});

function arkEntry(prompt: ArkPrompt): AgentEntry<DialogueAgentResources, Agent> {
  return {
    needs: ['model'],
    create: async ({ graph, ranking: { beamWidth }, taskClients }) =>
      arkAgent(prompt, { graph, beamWidth, clientFor: await taskClients() }),
  };
}
