/** Agents that answer questions: untrained ones by name, trained ones out of their runs. */
import type { z } from 'zod';
import { questionEdgeWalkId } from '../envs/dialogue-walk/question-edge-walk.js';
import { openRun } from '../src/run/run-folder.js';
import { randomChainEntry } from './baselines/random-chain.js';
import { templateLookupEntry } from './baselines/template-lookup.js';
import { cotEntry, ioEntry } from './prompted/direct-answer.js';
import { fiskeEntry } from './prompted/fiske/fiske-agent.js';
import { selfVeqaEntry } from './prompted/self-veqa/self-veqa-agent.js';
import { togEntry } from './prompted/tog/tog-agent.js';
import type { QuestionAgent, QuestionAgentEntry, QuestionAgentResources } from './question-agent.js';
import { AgentRegistry } from './registry.js';
import { loadRelationWalkerRun } from './relation-walker/relation-walker-agent.js';
import type { LoadedQuestionWalker } from './trained-run.js';
import { type LoadQuestionEdgeOptions, loadQuestionEdgeRun } from './walker/question-edge-agent.js';

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

/** What opening either kind of walker may be told; a relation walker takes no backend. */
export type LoadQuestionRunOptions = LoadQuestionEdgeOptions;

/**
 * A walker over relations, or over edges where the run's settings say so. Relations need no tensor backend.
 * @throws WorkbenchError `data` where something is missing or does not fit, `native` without a backend it needs
 */
export function loadQuestionRun(runFolder: string, options: LoadQuestionRunOptions): Promise<LoadedQuestionWalker> {
  const { env } = openRun(runFolder).config as { env?: { id?: string } };
  return env?.id === questionEdgeWalkId
    ? loadQuestionEdgeRun(runFolder, options)
    : loadRelationWalkerRun(runFolder, options);
}
