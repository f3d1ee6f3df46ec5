/** Asks an agent every question, many under way at once; whatever happens to one, it has one result. */
import type { QuestionAgent, QuestionAnswer, TraceEvent } from '../../agents/question-agent.js';
import type { QuestionTask } from '../../datasets/question.js';
import { runInterleaved } from '../../src/llm/client/run-interleaved.js';
import type { DecisionClient } from '../../src/llm/decision-client.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { PhaseCalls } from '../../src/run/question-records.js';

/** What the calls of one question came to. */
export interface CallTotals {
  calls: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  phases: PhaseCalls;
}

/** One question's view of the model. */
export interface QuestionCalls {
  client: DecisionClient;
  /** What was called until now. */
  totals(): CallTotals;
}

/** An answer, or why there is none, with what it cost. */
export interface QuestionAttempt {
  answer?: QuestionAnswer;
  /** Message of what the agent threw. */
  crash?: string;
  totals: CallTotals;
  trace: TraceEvent[];
}

export interface AskOptions {
  /** Questions under way at once; an agent that learns online has one. */
  concurrency: number;
  /** A question's view of the model. */
  openCalls(task: QuestionTask): QuestionCalls;
  /** Called after every question, in the order in which they end. */
  onAnswer?: (index: number, attempt: QuestionAttempt) => void;
  signal?: AbortSignal | undefined;
}

/** So many questions in a row that end by a failure outside the agent, such as a server that is away: it ends. */
const failuresInARow = 8;

/** Settings, a missing native part, the user: these would end every other question alike. */
const general: ReadonlySet<string> = new Set(['usage', 'config', 'native', 'stopped']);

/**
 * One attempt a task, in the order of the tasks.
 * @throws WorkbenchError of what concerns all questions (`usage`, `config`, `native`, `stopped`), and `failure` where one question
 *   after another ends by it
 */
export async function askQuestions(
  agent: QuestionAgent,
  tasks: readonly QuestionTask[],
  { concurrency, openCalls, onAnswer, signal }: AskOptions,
): Promise<QuestionAttempt[]> {
  await agent.prepare?.(tasks, signal);
  let failures = 0;
  const ask = async (task: QuestionTask) => {
    const { attempt, failure } = await askOne(agent, task, openCalls(task), signal);
    failures = failure ? failures + 1 : 0;
    if (failure && failures >= Math.min(failuresInARow, tasks.length)) throw failure;
    return attempt;
  };
  return runInterleaved(tasks, agent.online ? 1 : concurrency, ask, {
    signal,
    onDone: (attempt, index) => onAnswer?.(index, attempt),
  });
}

async function askOne(
  agent: QuestionAgent,
  task: QuestionTask,
  { client, totals }: QuestionCalls,
  signal: AbortSignal | undefined,
): Promise<{ attempt: QuestionAttempt; failure?: WorkbenchError }> {
  const trace: TraceEvent[] = [];
  try {
    const answer = await agent.answer(task, { client, trace: (event) => trace.push(event), signal });
    return { attempt: { answer, totals: totals(), trace } };
  } catch (error) {
    if (error instanceof WorkbenchError && general.has(error.code)) throw error;
    const crash = error instanceof Error ? error.message : String(error);
    const failure = error instanceof WorkbenchError && error.code === 'failure' ? { failure: error } : {};
    return { attempt: { crash, totals: totals(), trace }, ...failure };
  }
}
