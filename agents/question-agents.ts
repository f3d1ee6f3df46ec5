/** Agents that answer questions, by name. */
import type { z } from 'zod';
import { randomChainEntry } from './baselines/random-chain.js';
import { templateLookupEntry } from './baselines/template-lookup.js';
import { cotEntry } from './prompted/cot/cot-agent.js';
import { fiskeEntry } from './prompted/fiske/fiske-agent.js';
import { ioEntry } from './prompted/io/io-agent.js';
import { selfVeqaEntry } from './prompted/self-veqa/self-veqa-agent.js';
import { togEntry } from './prompted/tog/tog-agent.js';
import type { QuestionAgent, QuestionAgentEntry, QuestionAgentResources } from './question-agent.js';
import { AgentRegistry } from './registry.js';

/** What answers questions without a run. */
export const questionAgents = new AgentRegistry<QuestionAgentResources, QuestionAgent>({
  io: ioEntry,
  cot: cotEntry,
  tog: togEntry,
  fiske: fiskeEntry,
  'self-veqa': selfVeqaEntry,
  'template-lookup': templateLookupEntry,
  'random-chain': randomChainEntry,
});

/** `questionAgents.register`. */
export const registerQuestionAgent = <Settings extends z.ZodType>(name: string, entry: QuestionAgentEntry<Settings>) =>
  questionAgents.register(name, entry);
