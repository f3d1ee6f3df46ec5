/** Asks an agent for every task, so that one bad task costs one answer and not the run. */
import { setImmediate } from 'node:timers/promises';
import type { Agent, Answer } from '../agents/agent.js';
import type { WalkTask } from '../datasets/walk-sample.js';
import { WorkbenchError } from '../src/run/errors.js';
import { memoryErrorOf, throwIfStopped } from '../src/run/stop.js';
import { concernsAllTasks, failuresInARow } from './task-failures.js';

/** How many tasks at once, who is told how far it is, and what stops it. */
export interface AnswerOptions {
  /** Tasks a call. */
  batchSize: number;
  /** Called with the number of tasks done so far. */
  onProgress?: (done: number) => void;
  signal?: AbortSignal;
}

/** An answer, or why there is none. */
export type Attempt = { answer: Answer } | { failure: string };

/**
 * One attempt a task, in order. A batch that throws is asked again task by task, so that only the failing ones are lost.
 * @throws WorkbenchError `stopped` once the signal is aborted; what would fail for every task alike, such as bad settings, a missing
 *   native part, a full disk or a thread that died; and `data` or `failure` where one task after another ends by it
 */
export async function answerTasks(
  agent: Agent,
  tasks: readonly WalkTask[],
  { batchSize, onProgress, signal }: AnswerOptions,
): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  let failures = 0;
  const attemptOne = async (task: WalkTask): Promise<Attempt> => {
    try {
      const [attempt] = await answerBatch(agent, [task]);
      failures = 0;
      return attempt!;
    } catch (thrown) {
      const error = memoryErrorOf(thrown);
      const expected = error instanceof WorkbenchError;
      failures = expected ? failures + 1 : 0;
      if (concernsAllTasks(error) || failures >= Math.min(failuresInARow, tasks.length)) throw error;
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  };
  for (let begin = 0; begin < tasks.length; begin += batchSize) {
    const batch = tasks.slice(begin, begin + batchSize);
    try {
      attempts.push(...(await answerBatch(agent, batch, (done) => onProgress?.(begin + done))));
      failures = 0;
    } catch (error) {
      if (concernsAllTasks(error)) throw error;
      for (const task of batch) attempts.push(await attemptOne(task));
    }
    onProgress?.(attempts.length);
    await setImmediate(); // lets Ctrl-C through
    throwIfStopped(signal);
  }
  return attempts;
}

async function answerBatch(agent: Agent, tasks: WalkTask[], onProgress?: (done: number) => void): Promise<Attempt[]> {
  const answers = await agent.answer(tasks, onProgress);
  if (answers.length !== tasks.length) {
    throw new TypeError(`expected ${tasks.length} answers, got ${answers.length}, from agent ${agent.name}`);
  }
  return answers.map((answer) => ({ answer }));
}
