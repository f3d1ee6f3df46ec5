/** Agents that answer dialogues: untrained ones by name, trained ones out of their runs. */
import type { EmbeddingTable } from '../src/embedding/transe.js';
import type { Agent } from './agent.js';
import { randomBaseline, stopPriorBaseline } from './baselines/baseline.js';
import { frequencyBaseline, memoryBaseline, popularityBaseline } from './baselines/frequency.js';
import { type TextLimits, textSimilarityBaseline, transeBaseline } from './baselines/similarity.js';
import type { LoadedWalker, LoadWalkersOptions } from './dialogue-walker/load-walker.js';
import { type DialogueTraining, dialogueWalker } from './dialogue-walker/train.js';
import { MethodRegistry } from './method.js';
import { arkAgent, type ArkPrompt } from './prompted/ark/ark-agent.js';
import { fiskeEntry } from './prompted/fiske/fiske-agent.js';
import { gcrEntry } from './prompted/gcr/gcr-agent.js';
import { readerEntry } from './prompted/reader/reader-agent.js';
import { rogEntry } from './prompted/rog/rog-agent.js';
import { selfVeqaEntry } from './prompted/self-veqa/self-veqa-agent.js';
import { togEntry } from './prompted/tog/tog-agent.js';
import { turnAgent, type TurnResources } from './prompted/turns/turn-agent.js';
import { AgentRegistry, type AgentEntry } from './registry.js';

/** Resources of dialogue agents; costly ones are functions and created on use. */
export interface DialogueAgentResources extends TurnResources {
  /** A TransE table of the graph; the caller keeps it. */
  embedding(): Promise<EmbeddingTable>;
  textLimits: TextLimits;
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
  ...turnAgents(),
});

/** Methods that are trained on dialogues: a line each. */
export const dialogueMethods = new MethodRegistry<DialogueTraining, LoadWalkersOptions, LoadedWalker>({
  'dialogue-walker': dialogueWalker,
});

/** Agents of questions that answer turns. */
function turnAgents() {
  return {
    tog: turnAgent(togEntry),
    fiske: turnAgent(fiskeEntry),
    'self-veqa': turnAgent(selfVeqaEntry),
    rog: turnAgent(rogEntry),
    gcr: turnAgent(gcrEntry),
    reader: turnAgent(readerEntry),
  };
}

function arkEntry(prompt: ArkPrompt): AgentEntry<DialogueAgentResources, Agent> {
  return {
    needs: ['model'],
    // One, and one more where its reply could not be read.
    calls: 2,
    create: async ({ graph, ranking: { beamWidth }, taskClients }) =>
      arkAgent(prompt, { graph, beamWidth, clientFor: await taskClients() }),
  };
}
