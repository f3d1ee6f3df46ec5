/** Rows of an evaluation of questions, as written to disk: one line of `answers.jsonl` each. No wall clock. */

/** Why a question was missed, the first that applies. */
export const questionMisses = [
  'crashed',
  'topic-not-in-graph',
  'answer-not-reachable',
  'unparsed',
  'budget',
  'abstained',
  'wrong-chain',
  'wrong-answer',
] as const;
/** One of `questionMisses`. */
export type QuestionMiss = (typeof questionMisses)[number];

/** Calls of one phase, by how their replies were read. */
export type PhaseCalls = Record<string, { calls: number; stages: Record<string, number> }>;

/** What one agent made of one question. */
export interface QuestionRow {
  id: string;
  subset: string;
  type?: string;
  form: 'entities' | 'truth';
  question: string;
  /** Number of right answers; 0 for truth questions. */
  golds: number;
  /** Whether some right answer, and whether all of them, can be walked to from the topics within three relations. */
  reachable: boolean;
  reachableAll: boolean;
  /** Ids of what was predicted, best first. */
  entities: readonly number[];
  /** Names of the first of them. */
  names: readonly string[];
  literals: readonly string[];
  truth?: boolean;
  text?: string;
  /** Relation names that led to the answers. */
  chain?: readonly string[];
  verified?: boolean;
  /** Of entity questions the figures of `AnswerMetrics`, of truth questions `accuracy`. */
  metrics: Readonly<Record<string, number>>;
  /** Indices of the golds that were matched, strictly and leniently. */
  matched: readonly number[];
  matchedLenient: readonly number[];
  calls: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  graphReads: number;
  encodes: number;
  phases: PhaseCalls;
  /** The agent's own word for why it ended; `crashed` where it threw. */
  stop: string;
  abstained: boolean;
  /** Some reply could not be read, asked again or not. */
  unparsed: boolean;
  /** A fallback stood in for a reply. */
  degraded: boolean;
  /** All calls of the budget were made, or the agent ended for lack of them. */
  atCap: boolean;
  /** What the agent threw. */
  crash?: string;
  miss?: QuestionMiss;
}

/** A question worked out, for the report: names, not ids. */
export interface QuestionExample {
  id: string;
  subset: string;
  type?: string;
  question: string;
  /** As the data set gives them, whether or not the agent was told. */
  topics: string[];
  /** Names of the first right answers; of a truth question `true` or `false`. */
  gold: string[];
  /** How many right answers there are. */
  golds: number;
  /** Relation names of the first gold chain, where one is known. */
  goldChain?: string[];
  /** What the agent said, best first, as far as it is shown. */
  answer: string[];
  /** How much it said in all. */
  answers: number;
  /** `hit@1`, or the verdict of a truth question. */
  right: boolean;
  /** Every right answer was found, and nothing else was said. */
  exact: boolean;
  chain?: string[];
  /** [head, relation, tail] names of the first facts behind the answer. */
  evidence: [string, string, string][];
  stop: string;
  miss?: QuestionMiss;
  calls: { phase: string; stage: string; promptTokens: number; completionTokens: number }[];
  /** What the agent did, a line each. */
  steps: string[];
}
