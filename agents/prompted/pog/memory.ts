/** Notes of the exploration: sub-objectives of the question, and the facts known about them. */
import type { QuestionTask } from '../../../datasets/question.js';
import type { ContextBlock, DecisionClient, NamedTriple } from '../../../src/llm/decision.js';
import { memoryExamples, memoryTask, objectiveExamples, objectiveTask } from './prompts.js';

/** Most texts of each. */
const mostObjectives = 4;
const mostMemories = 6;

/** A question's own: nothing of it is kept in a file, or goes from one question to the next. */
export interface Notes {
  objectives: readonly string[];
  memory: readonly string[];
}

/** Context blocks of a decision; empty ones are not shown. Model output of any length, so cut first. */
export function noteBlocks({ objectives, memory }: Notes): ContextBlock[] {
  return [
    { label: 'Objectives', lines: objectives },
    { label: 'Memory', lines: memory },
  ].flatMap((block) => (block.lines.length > 0 ? [{ ...block, role: 'notes' as const }] : []));
}

/** One for every step on the way to the answer. Undefined where the reply cannot be read. */
export async function splitIntoObjectives(
  { id: questionId, question }: QuestionTask,
  client: DecisionClient,
): Promise<readonly string[] | undefined> {
  const { reply } = await client.decide({
    ...{ kind: 'rewrite', about: 'sub-objective', phase: 'objectives', questionId, question, evidence: [] },
    ...{ task: objectiveTask, examples: objectiveExamples, count: mostObjectives },
  });
  return reply?.texts;
}

/** Memory after new facts. Undefined when the reply is unreadable: the old memory stays. */
export async function renewedMemory(
  { id: questionId, question }: QuestionTask,
  client: DecisionClient,
  notes: Notes,
  evidence: readonly NamedTriple[],
): Promise<readonly string[] | undefined> {
  const { reply } = await client.decide({
    ...{ kind: 'rewrite', about: 'memory', phase: 'memory', questionId, question, evidence },
    ...{ task: memoryTask, examples: memoryExamples, count: mostMemories, context: noteBlocks(notes) },
  });
  return reply?.texts;
}
