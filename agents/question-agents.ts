/** Agents that answer questions: untrained ones by name, trained ones out of their runs. */
import type { z } from 'zod';
import { askedQuestion } from '../datasets/questions/asked-question.js';
import { NameIndex } from '../src/kg/name-index.js';
import { openRun } from '../src/run/run-folder.js';
import { embeddingWalkEntry } from './baselines/embedding-walk.js';
import { randomChainEntry } from './baselines/random-chain.js';
import { templateLookupEntry } from './baselines/template-lookup.js';
import { cotEntry, ioEntry } from './prompted/direct-answer.js';
import { fiskeEntry } from './prompted/fiske/fiske-agent.js';
import { gcrEntry } from './prompted/gcr/gcr-agent.js';
import { kgGptEntry } from './prompted/kg-gpt/kg-gpt-agent.js';
import { knowledgeNavigatorEntry } from './prompted/knowledge-navigator/knowledge-navigator-agent.js';
import { pogEntry } from './prompted/pog/pog-agent.js';
import { readerEntry } from './prompted/reader/reader-agent.js';
import { rogEntry } from './prompted/rog/rog-agent.js';
import { selfVeqaEntry } from './prompted/self-veqa/self-veqa-agent.js';
import { structGptEntry } from './prompted/structgpt/structgpt-agent.js';
import { togEntry } from './prompted/tog/tog-agent.js';
import type { QuestionAgent, QuestionAgentEntry, QuestionAgentResources, QuestionAnswer } from './question-agent.js';
import { AgentRegistry } from './registry.js';
import { MethodRegistry } from './method.js';
import type { QuestionTraining } from './question-training.js';
import { readerMethods } from './readers/train.js';
import { relationWalker } from './relation-walker/train.js';
import type { LoadedQuestionWalker, QuestionOptions } from './trained-run.js';

/** Question agents without a run. */
export const questionAgents = new AgentRegistry<QuestionAgentResources, QuestionAgent>({
  io: ioEntry,
  cot: cotEntry,
  tog: togEntry,
  fiske: fiskeEntry,
  'self-veqa': selfVeqaEntry,
  rog: rogEntry,
  gcr: gcrEntry,
  structgpt: structGptEntry,
  'kg-gpt': kgGptEntry,
  pog: pogEntry,
  'knowledge-navigator': knowledgeNavigatorEntry,
  reader: readerEntry,
  'template-lookup': templateLookupEntry,
  'embedding-walk': embeddingWalkEntry,
  'random-chain': randomChainEntry,
});

/** Methods that are trained on questions: a line each. */
export const questionMethods = new MethodRegistry<QuestionTraining, QuestionOptions, LoadedQuestionWalker>({
  'relation-walker': relationWalker,
  ...readerMethods,
});

/** `questionAgents.register`. */
export const registerQuestionAgent = <Settings extends z.ZodType>(name: string, entry: QuestionAgentEntry<Settings>) =>
  questionAgents.register(name, entry);

/** Options for opening a relation walker or a reader. */
export type LoadQuestionRunOptions = QuestionOptions & {
  /** Default `best`. */
  checkpoint?: string;
};

/** A walker that can be asked in words; close it after use. */
export interface AskableWalker extends LoadedQuestionWalker {
  /**
   * Answers a custom question; entities are best first.
   * @param text its topic in [brackets], or by a name that the graph knows
   * @throws WorkbenchError `usage` where no topic can be found: see `askedQuestion`
   */
  ask(text: string): Promise<QuestionAnswer & { topics: readonly string[]; answers: string[] }>;
}

/**
 * Opens a walker over relations, or a reader, as the run's settings say.
 * @throws WorkbenchError `data` where something is missing or does not fit, `native` without a backend it needs
 */
export async function loadQuestionRun(
  runFolder: string,
  { checkpoint = 'best', ...others }: LoadQuestionRunOptions = {},
): Promise<AskableWalker> {
  const run = openRun(runFolder);
  const loaded = await questionMethods.load([{ run, checkpoint }], others);
  const { agent, graph } = loaded;
  let names: NameIndex | undefined;
  const session = {
    client: { remaining: 0, byLikelihood: false, decide: () => Promise.reject(new Error('walkers ask no model')) },
    trace() {},
  };
  return {
    ...loaded,
    async ask(text) {
      const { task } = askedQuestion(text, graph, { names: (names ??= new NameIndex(graph)) });
      await agent.prepare?.([task]);
      const answer = await agent.answer(task, session);
      const nameOf = (entity: number) => graph.entityNames[entity]!;
      return { ...answer, topics: task.topics.map(({ name }) => name), answers: answer.entities.map(nameOf) };
    },
  };
}
