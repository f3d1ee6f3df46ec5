/** Interface of question agents, and answers of walked chains. */
import type { z } from 'zod';
import type { QuestionSample, QuestionTask } from '../datasets/question.js';
import type { FrontierNode } from '../envs/relation-walk/frontier-trie.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import { canonicalOrder, chainFrontiers, type Frontier } from '../src/kg/frontier.js';
import type { Graph, Triple } from '../src/kg/graph.js';
import type { NameIndex } from '../src/kg/name-index.js';
import type { DecisionClient, NamedTriple } from '../src/llm/decision.js';
import type { Cost } from './agent.js';
import { factOf } from './prompted/facts.js';
import type { AgentEntry } from './registry.js';

/** Event of an agent's trace; replay, reports and tests share the vocabulary. */
export type TraceEvent =
  | { event: 'start'; entities: readonly number[] }
  | { event: 'decision'; phase: string; summary: string }
  | { event: 'graph'; operation: string; reads: number }
  | { event: 'branch-open' | 'branch-close'; branch: number; detail: string }
  | { event: 'memory-write'; key: string; chain: readonly number[] }
  | { event: 'hops'; predicted: number }
  | { event: 'note'; text: string }
  | { event: 'stop'; reason: string };

/** Answer to one question. */
export interface QuestionAnswer {
  /** Answers that were found in the graph, best first, distinct ids; in canonical order where they come out of a frontier. */
  entities: readonly number[];
  /** Answers as text that no entity stands behind, best first: counted by name. */
  literals: readonly string[];
  /** Answer to a `truth` question; absent: abstained. */
  truth?: boolean;
  /** The reply in words, for lenient matching. */
  text?: string;
  /** Relation sequence that led to the answers, where there is one. */
  chain?: readonly number[];
  /** The sequences that it ranked, best first, of agents that walk several; `chain` may be any of them. */
  chains?: readonly (readonly number[])[];
  /** Probability that the agent gives its own answer, in [0, 1]; absent where it has none. */
  confidence?: number;
  /** The facts that support the answer, as walked. */
  evidence: readonly NamedTriple[];
  /** Result of the agent's own check (verifier, coverage); absent without one. */
  verified?: boolean;
  /** Some reply could not be read and a fallback stood in. */
  degraded: boolean;
  /** Why it ended, such as `covered`, `depth`, `budget`. */
  stop: string;
  /** Graph reads; calls and tokens are the client's. */
  cost: Cost;
}

/** Context for answering one question. */
export interface QuestionSession {
  client: DecisionClient;
  trace(event: TraceEvent): void;
  signal?: AbortSignal | undefined;
}

/** Source of the number of relations of a question: the data set, a classifier trained on train, or none. */
export type HopSource = 'given' | 'predicted' | 'none';

/** Accuracy of predicted hops on train questions whose texts were held out, in turn: shares in [0, 1]. */
export interface HopAccuracy {
  n: number;
  accuracy: number;
  /** Share of the most frequent number of hops: the accuracy of always saying it. */
  majority: number;
}

/** Question-answering agent; never sees gold answers. */
export interface QuestionAgent {
  readonly name: string;
  /** Note to report with its results. */
  readonly note?: string;
  /** True: topic entities are given. False: `task.topics` is empty. */
  readonly topicGiven: boolean;
  /** Source of the number of relations of a question. Default none. @param byLikelihood true where candidates are scored */
  hopSource?(byLikelihood: boolean): HopSource;
  /** Accuracy of hops that are predicted. */
  readonly hopAccuracy?: HopAccuracy | undefined;
  /** True where it calls a language model. */
  readonly prompted: boolean;
  /** Learns from one question for the next: questions are asked one at a time, in order. Default false. */
  readonly online?: boolean;
  /** Work that is cheaper for all questions at once, such as encoding their texts. */
  prepare?(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void>;
  /** @throws what the client throws, save `BudgetSpent`, which it handles */
  answer(task: QuestionTask, session: QuestionSession): Promise<QuestionAnswer>;
}

/** Resources of question agents; costly ones are functions and created on use. */
export interface QuestionAgentResources {
  /** Name of the data set: what worked examples are chosen by. */
  dataset: string;
  graph: Graph;
  names: NameIndex;
  /** Text vectors; the caller disposes it. To be asked for in `create`: an evaluation is known by the encoder of its agent. */
  encoder(): Promise<StateEncoder>;
  /** The train part of the questions, for memories and lookups: never valid or test. */
  train(): readonly QuestionSample[];
  /**
   * A trained relation walker over this very graph, as a judge of relations; the caller closes it. To be asked for in `create`, as
   * `encoder`. Absent where runs cannot be opened.
   * @param run its name or folder, a checkpoint behind an `@`
   * @throws WorkbenchError `usage` where there is no such run, `data` for one of another data set or kind
   */
  walker?(run: string): Promise<RelationRanker>;
  seed: number;
}

/**
 * A trained relation walker that is asked how likely relations are, or which way it would go: it reads the question and the relations
 * walked alone.
 */
export interface RelationRanker {
  /** Trained with given hops: it uses those of the task where `walks` gets none. */
  readonly hopsGiven?: boolean;
  /** Encodes questions at once. */
  prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void>;
  /**
   * @param walked relations so far, from the topic on
   * @param relations those that lead on, at least one; STOP and all others are left out
   * @returns float64 [relations.length], sums to 1; undefined where the walk is as long already as the walker's may be
   */
  shares(
    task: QuestionTask,
    walked: readonly number[],
    relations: readonly number[],
    signal?: AbortSignal,
  ): Promise<Float64Array | undefined>;
  /**
   * The most probable walks that its own beam finds, most probable first; each leads somewhere. None where nothing leads on from
   * the topics.
   * @param count walks followed at once, at least 1
   * @param hops relations of every walk, fewer where nothing leads on or the walker may not go so far; undefined: it stops when it chooses to, or as it was trained
   */
  walks(
    task: QuestionTask,
    count: number,
    hops: number | undefined,
    signal?: AbortSignal,
  ): Promise<readonly RankedWalk[]>;
}

/** A walk that a trained walker would take. */
export interface RankedWalk {
  /** At least one. */
  relations: readonly number[];
  /** Probability of the walk, STOP included, in (0, 1]. */
  probability: number;
}

/** A question agent with its switches. */
export type QuestionAgentEntry<Settings extends z.ZodType = z.ZodType> = AgentEntry<
  QuestionAgentResources,
  QuestionAgent,
  Settings
>;

/** Facts that an answer carries at most; a path is never cut. */
const maxFacts = 50;

/** The answer that a walked relation sequence stands for: its whole frontier in canonical order. */
export function chainAnswer(
  graph: Graph,
  node: Pick<FrontierNode, 'topics' | 'relations' | 'frontier'> & Partial<Pick<FrontierNode, 'excluded'>>,
  rest: Pick<QuestionAnswer, 'stop' | 'cost' | 'confidence'>,
): QuestionAnswer {
  const entities = canonicalOrder(node.frontier);
  const chain = [...node.relations];
  const evidence = chainEvidence(graph, node.topics, chain, entities, maxFacts, node.excluded);
  return { entities, literals: [], chain, evidence, degraded: false, ...rest };
}

/** No answer, and why. */
export function noAnswer(stop: string): QuestionAnswer {
  return { entities: [], literals: [], evidence: [], degraded: false, stop, cost: {} };
}

/**
 * For each answer, best first, one path back to a topic: the facts in walking order, each once and in the graph's own
 * direction, until `limit` is reached.
 * @param answers entities at the end of the chain, in the order in which they matter
 * @param excluded entities that never came back; default the topics
 */
export const chainEvidence = (
  graph: Graph,
  topics: readonly number[],
  chain: readonly number[],
  answers: readonly number[],
  limit: number,
  excluded: readonly number[] = topics,
): NamedTriple[] => frontierEvidence(graph, chainFrontiers(graph, topics, chain, excluded), chain, answers, limit);

/** The same of a walk whose frontiers were narrowed on the way. @param frontiers before the first hop and after each */
export function frontierEvidence(
  graph: Graph,
  frontiers: readonly Frontier[],
  chain: readonly number[],
  answers: readonly number[],
  limit: number,
): NamedTriple[] {
  const facts = new Map<string, NamedTriple>();
  for (const answer of answers) {
    const fresh = pathBack(graph, frontiers, chain, answer)
      .map((triple) => factOf(graph, triple))
      .map((fact) => [fact.join('\u0000'), fact] as const)
      .filter(([key]) => !facts.has(key));
    if (facts.size + fresh.length > limit) break;
    for (const [key, fact] of fresh) facts.set(key, fact);
  }
  return [...facts.values()];
}

/** One path back from the end of a chain, over the first head of each step. @param frontiers before the first hop and after each */
export function pathBack(
  graph: Graph,
  frontiers: readonly Frontier[],
  chain: readonly number[],
  end: number,
): Triple[] {
  const path: Triple[] = [];
  for (let step = chain.length - 1, tail = end; step >= 0; step--) {
    const [relation, to] = [chain[step]!, tail];
    tail = frontiers[step]!.entities.find((entity) => graph.edgeIndex(entity, relation, to) >= 0)!;
    path.unshift([tail, relation, to]);
  }
  return path;
}
