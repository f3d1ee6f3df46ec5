/** The records of a run folder, as written to disk: what trainers and evaluation write and reports read. */
import type { EvaluationMetrics } from './figures.js';
import type { EnvironmentRecord, RunState } from './record-schemas.js';

export type { Estimate, EvaluationMetrics } from './figures.js';
export type { EnvironmentRecord, ForkOrigin, MetricRecord, RunState, TimingRecord } from './record-schemas.js';

/** The phases of training, in order. */
export const phases = ['transe', 'bilinear', 'encode', 'clone', 'ppo'] as const;
/** One of `phases`. */
export type Phase = (typeof phases)[number];

/** A run as reports and listings see it. */
export interface RunInfo {
  /** The folder's name. */
  id: string;
  /** Absolute path. */
  folder: string;
  /** `config.yaml`: every key with its value. */
  config: Record<string, unknown>;
  configHash: string;
  environment: EnvironmentRecord;
  state: RunState;
}

/** How much of the split can be answered at all. */
export interface Coverage {
  /** Share of samples whose gold path is in the graph. */
  goldInGraph: number;
  /** Share of samples whose start has an edge. */
  startHasEdges: number;
  /** Share of samples whose gold path the agent may walk; absent where that is every edge of the graph. */
  goldWalkable?: number;
  /** Share of samples whose gold the agent's horizon can reach: the upper bound of its path@k. */
  reachable?: number;
  /** Mean number of actions at the first step. */
  meanActions: number;
}

/** What a policy of edges left of the graph. */
export interface EdgeRecord {
  /** `topk-degree` or `ark`. */
  policy: string;
  /** Longest list of actions, staying included. */
  maxOut: number;
  /** Entities with shorter lists than they have edges. */
  entitiesCut: number;
  /** Edges of the whole graph, and those that may be walked. */
  edges: number;
  kept: number;
  /** Of `ark`, by split: edges that may be walked only because its dialogues walk them. Any of valid or test is a leak. */
  brought?: Record<string, number>;
}

/** What answering the split cost, in all. */
export interface EvaluationCost {
  /** Wall time. */
  seconds?: number;
  /** Sums over samples: `encodes`, `graphReads`, `calls`, `promptTokens` … */
  [figure: string]: number | undefined;
}

/** A worked example for the report: names, not ids. */
export interface ExampleWalk {
  id: string;
  messages: { sender: string; text: string }[];
  sender: string;
  start: string;
  /** [head, relation, tail] names. */
  gold: [string, string, string][];
  /** Best first. */
  beam: { path: [string, string, string][]; logProb: number }[];
  /** Index of the first hop where the best path leaves the gold one; absent when they are equal. */
  firstWrongHop?: number;
}

/** `evaluations/<name>.json`: one agent on one split. Failures are in every denominator. */
export interface EvaluationRecord {
  schemaVersion: 1;
  agent: string;
  /** A fact that belongs beside the numbers, such as "uses entity counts". */
  note?: string;
  dataset: string;
  graph: string;
  split: string;
  turns: string;
  /** Samples in the denominator. */
  n: number;
  beamWidth: number;
  /** `best`, `last`, `clone` or a step. */
  checkpoint?: string;
  seed?: number;
  /**
   * How hits are counted. `strict`: exact triples for paths, distinct entities for targets. `ark`: beside these also as LLM-ARK's
   * published code counts, under `ark-path@k`, `ark-target@k` (end of the gold's first hop) and `target-any@k` (its last entity).
   */
  count: 'strict' | 'ark';
  /** Added to the score of two-hop walks when ranking; 0 unless asked for. */
  twoHopBonus?: number;
  coverage: Coverage;
  /** Which edges the agent may walk, as its run says; absent: all. */
  edges?: EdgeRecord;
  /**
   * Samples whose gold path is not in the list, by reason: `start-without-edges`, `gold-not-in-graph`, `gold-edge-cut` (with
   * `edges`), `agent-failed`, `not-ranked`.
   */
  misses?: Record<string, number>;
  metrics: EvaluationMetrics;
  /** By `name=value`: `hops=1`, `sender=user`, `target=unseen` … */
  slices: Record<string, EvaluationMetrics>;
  cost: EvaluationCost;
  hashes: { graph: string; encoder?: string; checkpoint?: string; data?: string };
  examples?: ExampleWalk[];
}

/** How the questions of one evaluation were asked. */
export interface QuestionAbout {
  dataset: string;
  /** What must stand beside every score: `fixture` (a graph collected partly from gold answers), `generated` (made questions). */
  labels?: readonly string[];
  graph: string;
  /** Parts of the data set that were asked, such as `2-hop`. */
  subsets: readonly string[];
  split: string;
  /** What the splits keep apart: `question`, `template` or `type`. */
  holdOut: string;
  /** Set where only a seeded sample was asked. */
  limit?: number;
  seed: number;
  /** Model of a prompted agent. */
  model?: string;
  /** The model knows the gold: such results compare among themselves only. */
  simulated: boolean;
  /** Calls a question may cost; null: no budget. */
  budget: number | null;
  budgetMode: 'strict' | 'reference';
  /** Set where single choices and verdicts were told by the probability of each instead of written. */
  choices?: 'logprob';
  /** The agent's switches that differ from its defaults. */
  switches: Record<string, unknown>;
  /** Whether the agent was told the topic entities. */
  topicGiven: boolean;
  /** Set where agents were not told the number of relations, which the data set's split says. */
  hopsWithheld?: boolean;
}

/** `evaluation.json` of questions: one agent on one split. Whatever went wrong is in every denominator. */
export interface QuestionEvaluationRecord extends QuestionAbout {
  schemaVersion: 1;
  kind: 'questions';
  agent: string;
  note?: string;
  /** Questions in the denominator. */
  n: number;
  /** Questions that are not, by reason, such as `no gold answer`. */
  excluded: Record<string, number>;
  /**
   * Of entity questions `hit@1`, `hit-any`, `precision`, `recall`, `f1`, `exact`, the lenient `partial` and `complete`, `reachable` (some
   * answer within three relations: the upper bound) and `reachable-all`; of truth questions `accuracy`; of all `abstained`, `unparsed`, `crashed`, `degraded`, `at-cap`: fractions in [0, 1]; `calls.mean`: calls.
   */
  metrics: EvaluationMetrics;
  /** By `name=value`: `subset=2-hop`, `type=…`, `form=truth` … */
  slices: Record<string, EvaluationMetrics>;
  /** Calls and tokens of a question: `calls`, `promptTokens`, `cachedTokens`, `completionTokens`. */
  cost: Record<string, { mean: number; median: number; p95: number; max: number; total: number }>;
  /** Calls by phase and by how their replies were read. */
  phases: Record<string, { calls: number; stages: Record<string, number> }>;
  /** Why questions ended, by the agent's own words. */
  stops: Record<string, number>;
  /** Misses (not hit@1; for truth questions wrong) by class. */
  misses: Record<string, number>;
  /** Metric against the number of calls allowed: share right among questions that ended within so many calls. */
  budgetCurve: { calls: number; hit: number; complete: number }[];
  hashes: { graph: string; dataset: string; model?: string; encoder?: string; checkpoint?: string };
}
