/** The one interface of everything that answers questions: prompted agents, trained walkers and lookups. */
import type { z } from 'zod';
import type { QuestionSample, QuestionTask } from '../datasets/question.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { Graph } from '../src/kg/graph.js';
import type { NameIndex } from '../src/kg/name-index.js';
import type { DecisionClient, NamedTriple } from '../src/llm/decision.js';
import type { Cost } from './agent.js';
import type { AgentEntry } from './registry.js';

/** What an agent did, in order: the same words for all agents, so that replay, reports and tests share them. */
export type TraceEvent =
  | { event: 'start'; entities: readonly number[] }
  | { event: 'decision'; phase: string; summary: string }
  | { event: 'graph'; operation: string; reads: number }
  | { event: 'branch-open' | 'branch-close'; branch: number; detail: string }
  | { event: 'memory-write'; key: string; chain: readonly number[] }
  | { event: 'note'; text: string }
  | { event: 'stop'; reason: string };

/** What an agent says to one question. */
export interface QuestionAnswer {
  /** Answers that were found in the graph, best first, distinct ids; in canonical order where they come out of a frontier. */
  entities: readonly number[];
  /** Answers as text that no entity stands behind, best first: counted by name. */
  literals: readonly string[];
  /** Of a `truth` question; absent: abstained. */
  truth?: boolean;
  /** The reply in words, for lenient matching. */
  text?: string;
  /** Relation sequence that led to the answers, where there is one. */
  chain?: readonly number[];
  /** Probability that the agent gives its own answer, in [0, 1]; absent where it has none. */
  confidence?: number;
  /** The facts that support the answer, as walked. */
  evidence: readonly NamedTriple[];
  /** Whether the agent's own check passed (verifier, coverage); absent without a check. */
  verified?: boolean;
  /** Some reply could not be read and a fallback stood in. */
  degraded: boolean;
  /** Why it ended, such as `covered`, `depth`, `budget`. */
  stop: string;
  /** Graph reads; calls and tokens are the client's. */
  cost: Cost;
}

/** What an agent is given for one question. */
export interface QuestionSession {
  client: DecisionClient;
  trace(event: TraceEvent): void;
  signal?: AbortSignal | undefined;
}

/** Whoever answers questions; it is given tasks and never golds. */
export interface QuestionAgent {
  readonly name: string;
  /** Facts that belong beside its numbers. */
  readonly note?: string;
  /** Whether it is told the topic entities; to others `task.topics` comes empty. */
  readonly topicGiven: boolean;
  /** Whether it asks a language model at all. */
  readonly prompted: boolean;
  /** What it learned from one question serves the next: asked one at a time, in order. Default false. */
  readonly online?: boolean;
  /** Work that is cheaper for all questions at once, such as encoding their texts. */
  prepare?(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void>;
  /** @throws what the client throws, save `BudgetSpent`, which it handles */
  answer(task: QuestionTask, session: QuestionSession): Promise<QuestionAnswer>;
}

/** What question agents may ask for; costly parts are functions, so that only those who need them pay. */
export interface QuestionAgentResources {
  /** Name of the data set: what worked examples are chosen by. */
  dataset: string;
  graph: Graph;
  names: NameIndex;
  /** Text vectors; the caller disposes it. To be asked for in `create`: an evaluation is known by the encoder of its agent. */
  encoder(): Promise<StateEncoder>;
  /** The train part of the questions, for memories and lookups: never valid or test. */
  train(): readonly QuestionSample[];
  seed: number;
}

/** A question agent with its switches. */
export type QuestionAgentEntry<Settings extends z.ZodType = z.ZodType> = AgentEntry<
  QuestionAgentResources,
  QuestionAgent,
  Settings
>;
