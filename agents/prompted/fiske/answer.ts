/** The last phase: an answer from the branches that cover every clue, or without them. */
import type { QuestionTask } from '../../../datasets/question.js';
import { type AnswerReply, BudgetSpent, type NamedTriple } from '../../../src/llm/decision.js';
import type { QuestionSession } from '../../question-agent.js';
import { exemplarsFor, truthExemplars } from '../exemplars.js';
import { walksTo, type Branch } from './branch.js';
import * as prompts from './prompts.js';

/**
 * Where complete branches end, most paths first, then the smaller id. Where a branch ends at something that the question
 * itself names, what it asks for is one step before.
 */
export function groundedAnswers(complete: readonly Branch[]): number[] {
  const walks = new Map<number, number>();
  const add = (entity: number, ways: number) => walks.set(entity, (walks.get(entity) ?? 0) + ways);
  for (const branch of complete) {
    if (!branch.named) add(branch.head, walksTo(branch));
    else for (const { from, walks: ways } of branch.arrivals) if (!from.named) add(from.head, ways);
  }
  return [...walks].sort(([a, left], [b, right]) => right - left || a - b).map(([entity]) => entity);
}

/** The model's answer from the facts. Undefined where nothing could be asked or read. */
export function answerFromFacts(
  task: QuestionTask,
  evidence: readonly NamedTriple[],
  session: QuestionSession,
): Promise<AnswerReply | undefined> {
  const truth = task.form === 'truth';
  return lastCall(task, session, {
    phase: 'answer',
    task: truth ? prompts.truthTask : prompts.answerTask,
    examples: truth ? prompts.truthExamples : prompts.answerExamples,
    evidence,
    withReasoning: false,
  });
}

/** The model's answer from memory, step by step. Undefined as above. @param dataset what the worked examples are chosen by */
export function answerAlone(
  task: QuestionTask,
  dataset: string,
  session: QuestionSession,
): Promise<AnswerReply | undefined> {
  const truth = task.form === 'truth';
  return lastCall(task, session, {
    phase: 'direct-answer',
    task: truth ? prompts.aloneTruthTask : prompts.aloneTask,
    examples: truth ? truthExemplars(true) : exemplarsFor(dataset, 'auto', true).slice(0, 2),
    evidence: [],
    withReasoning: true,
  });
}

async function lastCall(
  { id, question, form }: QuestionTask,
  { client }: QuestionSession,
  parts: {
    phase: string;
    task: string;
    examples: ReturnType<typeof exemplarsFor> | typeof prompts.answerExamples;
    evidence: readonly NamedTriple[];
    withReasoning: boolean;
  },
): Promise<AnswerReply | undefined> {
  try {
    const { reply } = await client.decide({ kind: 'answer', questionId: id, question, form, final: true, ...parts });
    return reply;
  } catch (error) {
    if (error instanceof BudgetSpent) return undefined;
    throw error;
  }
}
