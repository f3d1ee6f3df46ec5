/** A trained walker whose beams grow on several threads. */
import type { WalkTask } from '../../datasets/walk-sample.js';
import { inSharedMemory } from '../../src/run/shared-memory.js';
import { startWorkers } from '../../src/run/worker-pool.js';
import type { Agent, Answer } from '../agent.js';
import type { TaskVectors } from './features/featurizer.js';
import { tasksPerBatch } from './walker-agent.js';
import type { WalkerJob } from './walker-worker.js';
import type { WalkerParts } from './walker-parts.js';

/** How many threads, and what stays with this one. */
export interface ThreadedWalkerOptions {
  threads: number;
  /** Encodes the texts of tasks in this thread, so that no other one opens a language model. */
  encode(tasks: readonly WalkTask[]): Promise<TaskVectors>;
  signal?: AbortSignal | undefined;
}

/**
 * Each thread builds the policy; graph, weights, tables and vectors lie in shared memory. Tasks are walked in
 * the groups of one thread, so answers are the same to the bit.
 * @returns the agent, whose `answer` throws a fatal `failure` once a thread has died; and `close`, which ends the threads
 */
export function threadedWalker(
  parts: WalkerParts,
  { threads, encode, signal }: ThreadedWalkerOptions,
): { agent: Agent; close(): Promise<void> } {
  const pool = startWorkers<WalkerJob, Answer[]>({
    work: 'the evaluation',
    module: new URL('./walker-worker.js', import.meta.url),
    threads,
    // The graph lies in shared memory already.
    data: {
      ...inSharedMemory({ ...parts, graph: undefined, walkedRows: undefined }),
      graph: parts.graph,
      walkedRows: parts.walkedRows,
    },
    memoryHint: 'Lower --threads: every thread holds dialogues and beams. Or lower --beam-width.',
    signal,
  });
  const agent: Agent = {
    name: parts.settings.name,
    async answer(tasks, onProgress) {
      const { last, window, rowOf } = await encode(tasks);
      const texts = { last: inSharedMemory(last), window: inSharedMemory(window), rowOf };
      let done = 0;
      const groups: Promise<Answer[]>[] = [];
      for (let begin = 0; begin < tasks.length; begin += tasksPerBatch) {
        const group = tasks.slice(begin, begin + tasksPerBatch);
        groups.push(
          pool.run({ tasks: group, texts }).then((answers) => {
            onProgress?.((done += answers.length));
            return answers;
          }),
        );
      }
      return (await Promise.all(groups)).flat();
    },
  };
  return { agent, close: () => pool.close() };
}
