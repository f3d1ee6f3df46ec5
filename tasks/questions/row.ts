/** Row of one question, and its columns. */
import { z } from 'zod';
import { arrowFile } from '../../src/run/arrow.js';
import { openObject } from '../../src/run/read-json.js';
import { anyNumber } from '../../src/run/records.js';
import { decisionCount } from './decisions.js';

/** Why a question was missed, the first that applies. */
const questionMisses = [
  'crashed',
  'topic-not-in-graph',
  'answer-not-reachable',
  'unparsed',
  'budget',
  'abstained',
  'wrong-chain',
  'wrong-answer',
] as const;
export type QuestionMiss = (typeof questionMisses)[number];

const text = z.string();
const texts = z.array(text);
const count = z.int().min(0);
const counts = z.record(text, anyNumber);
const phaseCalls = z.record(text, openObject({ calls: anyNumber, stages: counts }));
/** Calls of one phase, by how their replies were read. */
export type PhaseCalls = z.output<typeof phaseCalls>;

/** Result of one question, as a line of `answers.jsonl`. No wall clock. */
export const questionRow = openObject({
  id: text,
  /** Place in the order of asking, from 0; of agents that learn as they answer. */
  turn: count.optional(),
  subset: text,
  type: text.optional(),
  form: z.enum(['entities', 'truth']),
  question: text,
  /** Number of right answers; 0 for truth questions. */
  golds: count,
  /** Some right answer, or all of them, can be reached from the topics within three relations. */
  reachable: z.boolean(),
  reachableAll: z.boolean(),
  /** Ids of what was predicted, best first. */
  entities: z.array(z.int()),
  /** Names of the first of them. */
  names: texts,
  literals: texts,
  truth: z.boolean().optional(),
  text: text.optional(),
  /** Relation names that led to the answers. */
  chain: texts.optional(),
  verified: z.boolean().optional(),
  /** Confidence in [0, 1]: stated by the agent, else the product over its decisions. */
  confidence: anyNumber.optional(),
  /** For entity questions the figures of `AnswerMetrics`, for truth questions `accuracy`. */
  metrics: counts,
  /** Indices of the golds that were matched, strictly and leniently. */
  matched: z.array(count),
  matchedLenient: z.array(count),
  calls: anyNumber,
  promptTokens: anyNumber,
  cachedTokens: anyNumber,
  completionTokens: anyNumber,
  graphReads: anyNumber,
  encodes: anyNumber,
  /** Relations that it met and whose tails were cut, of a graph behind an endpoint; absent for none. */
  cutRelations: anyNumber.optional(),
  /** Replies by what befell them: `cut`, `thinking`, `without …`; absent for nothing. See `Completion.remarks`. */
  remarks: counts.optional(),
  phases: phaseCalls,
  /** Decisions of prompted agents; see `DecisionCount`. */
  decisions: z.array(decisionCount).optional(),
  /** The agent’s own word for why it ended; `crashed` where it threw. */
  stop: text,
  abstained: z.boolean(),
  /** Some reply could not be read, asked again or not. */
  unparsed: z.boolean(),
  /** A fallback stood in for a reply. */
  degraded: z.boolean(),
  /** All calls of the budget were made, or the agent ended for lack of them. */
  atCap: z.boolean(),
  /** Message of the agent's error. */
  crash: text.optional(),
  miss: z.enum(questionMisses).optional(),
});
/** See `questionRow`. */
export type QuestionRow = z.output<typeof questionRow>;

/** The best answer is right: `hit@1`, or the verdict of a truth question. */
export function isRight({ metrics }: Pick<QuestionRow, 'metrics'>): boolean {
  return (metrics['hit@1'] ?? metrics.accuracy) === 1;
}

/** Columns of figures, by the names that these have in rows. */
const metricColumns = {
  ...{ hit1: 'hit@1', hit_any: 'hit-any', precision: 'precision', recall: 'recall', f1: 'f1' },
  ...{ exact: 'exact', partial: 'partial', complete: 'complete', accuracy: 'accuracy' },
};

/**
 * Rows as an Arrow IPC file: `id`, `subset`, `type`, `form`, `stop`, `miss` (utf8, empty for none), `hit1` … `complete` and
 * `accuracy` (float64, NaN where the figure does not apply), `calls`, tokens and `golds` (int32), flags (bool).
 */
export function questionArrow(rows: readonly QuestionRow[]): Uint8Array {
  return arrowFile(rows, ({ words, int32, float64, flags }) => ({
    id: words(({ id }) => id),
    subset: words(({ subset }) => subset),
    type: words(({ type }) => type ?? ''),
    form: words(({ form }) => form),
    golds: int32(({ golds }) => golds),
    ...Object.fromEntries(
      Object.entries(metricColumns).map(([name, key]) => [name, float64(({ metrics }) => metrics[key] ?? NaN)]),
    ),
    calls: int32(({ calls }) => calls),
    prompt_tokens: int32(({ promptTokens }) => promptTokens),
    cached_tokens: int32(({ cachedTokens }) => cachedTokens),
    completion_tokens: int32(({ completionTokens }) => completionTokens),
    graph_reads: int32(({ graphReads }) => graphReads),
    reachable: flags(({ reachable }) => reachable),
    abstained: flags(({ abstained }) => abstained),
    unparsed: flags(({ unparsed }) => unparsed),
    degraded: flags(({ degraded }) => degraded),
    at_cap: flags(({ atCap }) => atCap),
    stop: words(({ stop }) => stop),
    miss: words(({ miss }) => miss ?? ''),
  }));
}
