/** Interface between the evaluation loop and a task: agent, scoring of an attempt into a row, and figures of rows. */
import type { z } from 'zod';
import type { Cost } from '../agents/agent.js';
import type { TraceEvent } from '../agents/question-agent.js';
import type { CallRecord, CallTotals, QuestionClient } from '../src/llm/client/create-clients.js';
import type { EvaluationRecord, Example, Section } from '../src/run/evaluation.js';
import type { Figure } from '../src/run/figures.js';
import type { TakenDecision } from './watch-decisions.js';

/** A `task`, visible to agents, with its gold, which is not. */
export type Sample = { readonly task: { readonly id: string } };

/** Result of one task: an answer, or the reason there is none. */
export interface Attempt<Answer> {
  answer?: Answer;
  /** See `Agent.logProbs`: of the gold walk. */
  goldLogProb?: number | undefined;
  /** Message of what the agent threw. */
  failure?: string;
  /** For agents that call a model. */
  totals?: CallTotals;
  calls?: readonly CallRecord[];
  /** Its decisions, in order. */
  decisions?: readonly TakenDecision[] | undefined;
  trace?: readonly TraceEvent[];
  /** Its place in the order of asking, from 0, of agents that learn from each task for the next. */
  turn?: number;
}

/** Access to a model, concurrency, and the stop signal. */
export interface AskOptions {
  /** A task's view of the model; agents that ask none never call it. */
  openCalls(task: { readonly id: string }): QuestionClient;
  /** Tasks under way at once, of agents that ask a model. */
  concurrency: number;
  /** Tasks to prepare for, where only some of an evaluation's are asked. Default those that are asked. */
  prepareFor?: readonly { readonly id: string }[];
  /** To be called once what serves all tasks is done, such as encoding their texts. */
  onPrepared?: () => void;
  signal?: AbortSignal | undefined;
}

/** An agent as the drivers ask it. */
export interface AgentRunner<Task, Answer> {
  readonly name: string;
  /** A caveat to print next to its numbers. */
  readonly note?: string | undefined;
  /** True if it calls a language model. */
  readonly prompted?: boolean;
  /** Learns from each task for the next: only a whole evaluation in order is valid. */
  readonly online?: boolean;
  /**
   * Every task once, in any order; one that cannot be asked may be left out.
   * @param take called with a task's place and what came of it; the answer is valid during the call
   * @throws WorkbenchError of what concerns all tasks alike
   */
  ask(
    tasks: readonly Task[],
    take: (index: number, attempt: Attempt<Answer>) => void,
    options: AskOptions,
  ): Promise<void>;
}

/** Result of one sample, as a line of `answers.jsonl`. */
export interface Row {
  readonly id: string;
  /** Why it is a miss. */
  readonly miss?: string | undefined;
}

/** Computes figures from rows. */
export interface Measure<R extends Row> {
  /** Reads a line of `answers.jsonl`. */
  readonly row: z.ZodType<R>;
  /**
   * Value of a figure, by its key; undefined for rows outside its denominator.
   * @throws TypeError for a key that is no figure of the task
   */
  valueOf(key: string): (row: R) => number | undefined;
  /** Bootstrap clusters: their name, and the cluster of a row. */
  readonly clusters: string;
  /** Samples, where clusters hold several: `samples`. Default the clusters. */
  readonly samples?: string;
  cluster(row: R): string;
  /** By name: the value of a row's slice, undefined for none. */
  readonly slices: Readonly<Record<string, (row: R) => string | undefined>>;
  /** A slice whose values are compared by themselves, such as `direction`. */
  readonly comparedSlice?: string;
  costOf(row: R): Cost;
  /** `rows.arrow`; equal rows give equal bytes. */
  arrow(rows: readonly R[]): Uint8Array;
  /** False for agents whose calls no budget changes. Default true. */
  readonly spends?: (agent: string) => boolean;
  /** An evaluation that stands for several in comparisons, such as one for each way to pool walks. */
  views?<One extends Compared<R>>(evaluation: One): One[];
}

/** Part of an evaluation that comparisons need. */
export type Compared<R extends Row> = { name: string; record: EvaluationRecord; rows: readonly R[] };

/** Scores the attempts of an agent on a split: the only place where gold meets an answer. */
export interface Scorer<S extends Sample, Answer, R extends Row> {
  readonly measure: Measure<R>;
  /** In the order of tables; those that no row is counted in are left out of the record. */
  readonly figures: readonly Figure[];
  /** All reasons for a miss, in order, also those that do not occur. Default: those that occur. */
  readonly missReasons?: readonly string[];
  /** Without an attempt: the task could not be given to the agent. */
  rowOf(sample: S, attempt: Attempt<Answer> | undefined): R;
  /** A sample worked out for the report; undefined where there is nothing to show. */
  exampleOf?(sample: S, attempt: Attempt<Answer>, row: R): Example | undefined;
  /** Additional details for programs and sections for people; `bounds`: by figure, the most that any walk can reach. */
  summary?(rows: readonly R[]): {
    details: Record<string, unknown>;
    sections: Section[];
    bounds?: Record<string, number>;
  };
}
