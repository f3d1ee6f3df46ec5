/** Asks an agent every question, many under way at once; whatever happens to one, it has one result. */
import type { QuestionAgent, QuestionAnswer, TraceEvent } from '../../agents/question-agent.js';
import type { QuestionTask } from '../../datasets/question.js';
import type { CallRecord, CallTotals, QuestionClient } from '../../src/llm/client/create-clients.js';
import { runInterleaved } from '../../src/llm/concurrency.js';
import { memoryErrorOf } from '../../src/run/stop.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { concernsAllTasks, failuresInARow } from '../task-failures.js';

/** An answer, or why there is none, with what it cost. */
export interface QuestionAttempt {
  answer?: QuestionAnswer;
  /** Message of what the agent threw. */
  crash?: string;
  totals: CallTotals;
  calls: CallRecord[];
  trace: TraceEvent[];
}

/** How many questions at once, how each reaches the model, and who is told. */
export interface AskOptions {
  /** Questions under way at once; an agent that learns online has one. */
  concurrency: number;
  /** A question's view of the model. */
  openCalls(task: QuestionTask): QuestionClient;
  /** Called once the agent is prepared. */
  onPrepared?: () => void;
  /** Called after every question, in the order in which they end. */
  onAnswer?: (index: number, attempt: QuestionAttempt) => void;
  signal?: AbortSignal | undefined;
}

/**
 * One attempt a task, in the order of the tasks.
 * @throws WorkbenchError of what concerns all questions (`usage`, `config`, `native`, `stopped`, and whatever is `fatal`), and
 *   `failure` where one question after another ends by it
 */
export async function askQuestions(
  agent: QuestionAgent,
  tasks: readonly QuestionTask[],
  { concurrency, openCalls, onPrepared, onAnswer, signal }: AskOptions,
): Promise<QuestionAttempt[]> {
  await agent.prepare?.(tasks, signal);
  onPrepared?.();
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
  { client, calls, totals }: QuestionClient,
  signal: AbortSignal | undefined,
): Promise<{ attempt: QuestionAttempt; failure?: WorkbenchError }> {
  const trace: TraceEvent[] = [];
  try {
    const answer = await agent.answer(task, { client, trace: (event) => trace.push(event), signal });
    return { attempt: { answer, totals: totals(), calls: calls(), trace } };
  } catch (thrown) {
    const error = memoryErrorOf(thrown);
    if (concernsAllTasks(error)) throw error;
    const crash = error instanceof Error ? error.message : String(error);
    const failure = error instanceof WorkbenchError && error.code === 'failure' ? { failure: error } : {};
    return { attempt: { crash, totals: totals(), calls: calls(), trace }, ...failure };
  }
}
