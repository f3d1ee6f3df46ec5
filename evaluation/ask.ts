/** Askers of agents that take tasks in batches and of those that take one at a time: a bad task costs one answer, not the run. */
import { setImmediate } from 'node:timers/promises';
import type { Agent, Answer } from '../agents/agent.js';
import type { QuestionAgent, QuestionAnswer, TraceEvent } from '../agents/question-agent.js';
import type { QuestionTask } from '../datasets/question.js';
import type { WalkTask } from '../datasets/walk-sample.js';
import type { Path } from '../src/kg/graph.js';
import type { QuestionClient } from '../src/llm/client/create-clients.js';
import { runInterleaved } from '../src/run/concurrency.js';
import { WorkbenchError } from '../src/run/errors.js';
import { Rng } from '../src/run/seeds.js';
import { limitErrorOf, throwIfStopped } from '../src/run/stop.js';
import type { AgentRunner, Attempt } from './score.js';
import { confidenceOf, watchDecisions, type WatchedDecisions } from './watch-decisions.js';

/** So many tasks in a row that end by a failure outside the agent, such as a server that is away: the evaluation ends. */
const failuresInARow = 8;

/** True if an error would end every other task alike: settings, a missing native part, the user, or anything `fatal`. */
const concernsAllTasks = (error: unknown): error is WorkbenchError =>
  error instanceof WorkbenchError && (error.fatal || ['usage', 'config', 'native', 'stopped'].includes(error.code));

/** Options of a batch agent. */
export interface BatchOptions {
  batchSize: number;
  /** Leaves out tasks without an answer, such as those whose start has no edge. Default: none. */
  canAsk?: (task: WalkTask) => boolean;
  /** The walk whose probability is asked for after the answer, of agents that are a distribution over walks. */
  goldOf?: (task: WalkTask) => Path;
  /** For agents that call a model: receives a task's view of it before each call. */
  useCalls?: (openCalls: (task: { readonly id: string }) => QuestionClient) => void;
}

/**
 * Asks in batches; one that throws is asked again task by task, so that only the failing ones are lost.
 * @throws (from `ask`) WorkbenchError `stopped` once the signal is aborted; what would fail for every task alike, such as bad
 *   settings, a missing native part, a full disk or a thread that died; `data` or `failure` where one task after another ends by it
 */
export function batchAsker(
  agent: Agent,
  { batchSize, canAsk = () => true, goldOf, useCalls }: BatchOptions,
): AgentRunner<WalkTask, Answer> {
  return {
    name: agent.name,
    note: agent.note,
    prompted: useCalls !== undefined,
    async ask(tasks, take, { openCalls, onPrepared, signal }) {
      const watched = new Map<string, WatchedDecisions & Pick<QuestionClient, 'totals'>>();
      useCalls?.((task) => {
        const calls = openCalls(task);
        const { client, taken } = watchDecisions(calls.client);
        watched.set(task.id, { client, taken, totals: calls.totals });
        return { ...calls, client };
      });
      const decisionsOf = (index: number): Pick<Attempt<Answer>, 'decisions' | 'totals'> => {
        const own = watched.get(tasks[index]!.id);
        watched.delete(tasks[index]!.id);
        return { decisions: own?.taken(), totals: own?.totals() };
      };
      onPrepared?.();
      const indices = tasks.flatMap((task, index) => (canAsk(task) ? [index] : []));
      let failures = 0;
      const askOne = async (index: number): Promise<Attempt<Answer>> => {
        try {
          const [attempt] = await attemptsOf(agent, [tasks[index]!], goldOf);
          failures = 0;
          return { ...attempt, ...decisionsOf(index) };
        } catch (thrown) {
          const error = limitErrorOf(thrown);
          const expected = error instanceof WorkbenchError;
          failures = expected ? failures + 1 : 0;
          if (concernsAllTasks(error) || failures >= Math.min(failuresInARow, indices.length)) throw error;
          return { failure: messageOf(error), ...decisionsOf(index) };
        }
      };
      for (let begin = 0; begin < indices.length; begin += batchSize) {
        const batch = indices.slice(begin, begin + batchSize);
        try {
          const asked = batch.map((index) => tasks[index]!);
          const attempts = await attemptsOf(agent, asked, goldOf);
          batch.forEach((index, i) => take(index, { ...attempts[i], ...decisionsOf(index) }));
          failures = 0;
        } catch (error) {
          if (concernsAllTasks(error)) throw error;
          for (const index of batch) take(index, await askOne(index));
        }
        await setImmediate(); // lets Ctrl-C through
        throwIfStopped(signal);
      }
    },
  };
}

/** The agent has answered before it is handed any walk. */
async function attemptsOf(
  agent: Agent,
  tasks: WalkTask[],
  goldOf: BatchOptions['goldOf'],
): Promise<Pick<Attempt<Answer>, 'answer' | 'goldLogProb'>[]> {
  const answers = await agent.answer(tasks);
  if (answers.length !== tasks.length) {
    throw new TypeError(`expected ${tasks.length} answers, got ${answers.length}, from agent ${agent.name}`);
  }
  const logProbs = goldOf && (await agent.logProbs?.(tasks.map((task) => ({ task, paths: [goldOf(task)] }))));
  return answers.map((answer, i) => ({ answer, goldLogProb: logProbs?.[i]![0] }));
}

/**
 * Asks one question at a time, several under way; an agent that learns online has one, in an order drawn by seed.
 * @param hopsGiven whether the number of relations is passed to the agent if the data set has it
 * @param seed of the order; default that of the tasks
 * @throws (from `ask`) WorkbenchError of errors that affect all questions (`usage`, `config`, `native`, `stopped`, and any that is
 *   `fatal`), and `failure` where one question after another ends by it
 */
export function questionRunner(
  agent: QuestionAgent,
  hopsGiven = true,
  seed?: number,
): AgentRunner<QuestionTask, QuestionAnswer> {
  const { name, note, prompted, online = false } = agent;
  return {
    ...{ name, note, prompted, online },
    async ask(tasks, take, { openCalls, concurrency, prepareFor = tasks, onPrepared, signal }) {
      const visible = tasks.map((task) => visibleTask(agent, task, hopsGiven));
      const prepared = (prepareFor as readonly QuestionTask[]).map((task) => visibleTask(agent, task, hopsGiven));
      await agent.prepare?.(prepared, signal);
      onPrepared?.();
      let failures = 0;
      const ask = async (task: QuestionTask) => {
        const { attempt, error } = await askQuestion(agent, task, prompted ? openCalls(task) : undefined, signal);
        failures = error ? failures + 1 : 0;
        if (error && failures >= Math.min(failuresInARow, visible.length)) throw error;
        return attempt;
      };
      if (!online) {
        await runInterleaved(visible, concurrency, ask, { signal, onDone: (attempt, i) => take(i, attempt) });
        return;
      }
      const inOrder = [...visible.keys()];
      const order = seed === undefined ? inOrder : Rng.named(seed, 'evaluate/order').shuffle(inOrder);
      await runInterleaved(order, 1, (index) => ask(visible[index]!), {
        signal,
        onDone: (attempt, turn) => take(order[turn]!, { ...attempt, turn }),
      });
    },
  };
}

/** The part of a task that the agent receives. */
export function visibleTask({ topicGiven }: QuestionAgent, task: QuestionTask, hopsGiven: boolean): QuestionTask {
  return { ...task, topics: topicGiven ? task.topics : [], hops: hopsGiven ? task.hops : undefined };
}

async function askQuestion(
  agent: QuestionAgent,
  task: QuestionTask,
  calls: QuestionClient = noCalls(),
  signal: AbortSignal | undefined,
): Promise<{ attempt: Attempt<QuestionAnswer>; error?: WorkbenchError }> {
  const trace: TraceEvent[] = [];
  const watched = watchDecisions(calls.client);
  const cost = () => ({ totals: calls.totals(), calls: calls.calls(), decisions: watched.taken(), trace });
  try {
    const answer = await agent.answer(task, { client: watched.client, trace: (event) => trace.push(event), signal });
    const confidence = answer.confidence ?? confidenceOf(watched.taken(), calls.client);
    return { attempt: { answer: { ...answer, confidence }, ...cost() } };
  } catch (thrown) {
    const error = limitErrorOf(thrown);
    if (concernsAllTasks(error)) throw error;
    const attempt = { failure: messageOf(error), ...cost() };
    return error instanceof WorkbenchError && error.code === 'failure' ? { attempt, error } : { attempt };
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** For agents that ask no model. */
export const noCalls = (): QuestionClient => ({
  client: {
    remaining: 0,
    byLikelihood: false,
    decide: () => Promise.reject(new TypeError('expected an agent that asks no model, got one that does')),
  },
  calls: () => [],
  totals: () => ({ calls: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0, phases: {} }),
});
