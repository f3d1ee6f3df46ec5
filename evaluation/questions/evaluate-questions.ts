/** Runs an agent over questions and counts: whatever goes wrong is in every denominator. */
import type { QuestionAgent } from '../../agents/question-agent.js';
import type { QuestionSample, QuestionTask } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';
import { NameIndex } from '../../src/kg/name-index.js';
import type { QuestionClient } from '../../src/llm/client/create-clients.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { QuestionExample, QuestionRow } from '../../src/run/question-records.js';
import type { QuestionAbout, QuestionEvaluationRecord } from '../../src/run/records.js';
import { askQuestions } from './ask-questions.js';
import type { AskOptions, QuestionAttempt } from './ask-questions.js';
import { exampleQuestions } from './example-questions.js';
import { goldReach } from './gold-reach.js';
import { rowOf } from './question-row.js';
import {
  budgetCurve,
  costOfQuestions,
  countsOf,
  phasesOfQuestions,
  sliceQuestions,
  summariseQuestions,
} from './summarise-questions.js';

/** What an agent is evaluated over, and what the record says of it. */
export interface EvaluateQuestionsOptions {
  graph: Graph;
  /** Names of the graph's entities. Default made here. */
  names?: NameIndex;
  /** How the questions are asked, for the record. */
  about: QuestionAbout;
  hashes: Omit<QuestionEvaluationRecord['hashes'], 'graph'>;
  /** Questions that are not asked, by reason, as `drawQuestions` counts them. */
  excluded?: Record<string, number>;
  /** A question's view of the model; absent for agents that ask none. */
  openCalls?: (task: QuestionTask) => QuestionClient;
  /** Questions under way at once. Default 1. */
  concurrency?: number;
  /** Whether agents are told the number of relations where the data set tells it. Default true. */
  hopsGiven?: boolean;
  /** Bootstrap resamples behind every interval. Default 2000. */
  resamples?: number;
  /** Called once the agent is prepared, before the first question. */
  onPrepared?: () => void;
  /** Called with the row of every question that ended. */
  onRow?: (row: QuestionRow) => void;
  signal?: AbortSignal | undefined;
}

/** The record with everything that it was summed up from. */
export interface QuestionEvaluation {
  record: QuestionEvaluationRecord;
  /** One a question, in order. */
  rows: QuestionRow[];
  attempts: QuestionAttempt[];
  /** Some of them worked out for the report. */
  examples: QuestionExample[];
}

/** Questions that are worked out for the report. */
const shownExamples = 8;

/**
 * Evaluates an agent: one row a question, whatever happens. The agent sees tasks, never right answers, and no topics where it
 * is not to be told them.
 * @throws WorkbenchError `data` without questions; see `askQuestions`
 */
export async function evaluateQuestions(
  agent: QuestionAgent,
  samples: readonly QuestionSample[],
  options: EvaluateQuestionsOptions,
): Promise<QuestionEvaluation> {
  const { graph, about, names = new NameIndex(graph), openCalls, concurrency = 1, signal } = options;
  if (samples.length === 0) {
    throw new WorkbenchError('data', `expected questions, got none, at split ${about.split} of ${about.dataset}`);
  }
  const { topicGiven } = agent;
  const context = { graph, names, reach: goldReach(graph), budget: about.budget, topicGiven };
  const rows = new Array<QuestionRow>(samples.length);
  const ask: AskOptions = {
    concurrency,
    openCalls: openCalls ?? noCalls,
    onAnswer(i, attempt) {
      rows[i] = rowOf(samples[i]!, attempt, context);
      options.onRow?.(rows[i]);
    },
    ...(options.onPrepared && { onPrepared: options.onPrepared }),
    signal,
  };
  const tasks = samples.map(({ task }) => taskFor(agent, task, options.hopsGiven ?? true));
  const attempts = await askQuestions(agent, tasks, ask);
  const examples = exampleQuestions(samples, attempts, rows, graph, shownExamples);
  return { record: recordOf(agent, rows, options), rows, attempts, examples };
}

/** What the agent is told of a task. */
export function taskFor({ topicGiven }: QuestionAgent, task: QuestionTask, hopsGiven: boolean): QuestionTask {
  const { hops, ...rest } = task;
  return { ...rest, topics: topicGiven ? task.topics : [], ...(hopsGiven && hops !== undefined && { hops }) };
}

/** The figures of rows. */
function recordOf(
  { name, note, topicGiven }: Pick<QuestionAgent, 'name' | 'note' | 'topicGiven'>,
  rows: readonly QuestionRow[],
  { graph, about, hashes, excluded = {}, resamples = 2000 }: EvaluateQuestionsOptions,
): QuestionEvaluationRecord {
  return {
    schemaVersion: 1,
    kind: 'questions',
    agent: name,
    ...(note !== undefined && { note }),
    ...about,
    topicGiven,
    n: rows.length,
    excluded,
    metrics: summariseQuestions(rows, resamples),
    slices: sliceQuestions(rows, resamples),
    cost: costOfQuestions(rows),
    phases: phasesOfQuestions(rows),
    stops: countsOf(rows.map(({ stop }) => stop)),
    misses: countsOf(rows.flatMap(({ miss }) => miss ?? [])),
    budgetCurve: budgetCurve(rows),
    hashes: { graph: graph.hash, ...hashes },
  };
}

/** For agents that ask no model. */
export function noCalls(): QuestionClient {
  return {
    client: {
      remaining: 0,
      decide: () => Promise.reject(new TypeError('expected an agent that asks no model, got one that does')),
    },
    calls: () => [],
    totals: () => ({ calls: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0, phases: {} }),
  };
}
