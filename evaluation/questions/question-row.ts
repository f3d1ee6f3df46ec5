/** One question's row: the only place where a right answer meets what an agent said to a question. */
import type { QuestionAnswer } from '../../agents/question-agent.js';
import type { QuestionSample } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';
import type { NameIndex } from '../../src/kg/name-index.js';
import { answerMetrics, matchAnswers, type Matches, truthAccuracy } from '../../src/metrics/answers.js';
import type { QuestionMiss, QuestionRow } from '../../src/run/question-records.js';
import type { QuestionAttempt } from './ask-questions.js';
import type { GoldReach } from './gold-reach.js';

/** What scoring one question needs beside it. */
export interface RowContext {
  graph: Graph;
  names: NameIndex;
  reach: (sample: QuestionSample) => GoldReach;
  /** Calls a question may cost; null: no budget. */
  budget: number | null;
  /** Whether the agent starts from the topics. */
  topicGiven: boolean;
}

/** Names of predicted entities that a row keeps; it keeps all ids. */
const shownNames = 20;

/** An answer that says nothing: what a crashed question is scored as. */
const nothing: QuestionAnswer = {
  entities: [],
  literals: [],
  evidence: [],
  degraded: false,
  stop: 'crashed',
  cost: {},
};

/** Scores one question. */
export function rowOf(sample: QuestionSample, attempt: QuestionAttempt, context: RowContext): QuestionRow {
  const { task, gold } = sample;
  const { graph, names, budget } = context;
  const { answer = nothing, crash } = attempt;
  const { phases, ...totals } = attempt.totals;
  const matches = matchAnswers(answer, {
    golds: gold.answers,
    topics: task.topics,
    lookup: (name) => names.lookup(name),
  });
  const isTruth = task.form === 'truth';
  const metrics: Record<string, number> = isTruth
    ? { accuracy: crash === undefined ? truthAccuracy(answer.truth, gold.truth === true) : 0 }
    : { ...answerMetrics(matches, gold.answers.length) };
  const reach = isTruth ? { some: true, all: true } : context.reach(sample);
  const unparsed = Object.values(phases).some(({ stages }) => (stages.unparsed ?? 0) > 0);
  const row: QuestionRow = {
    id: task.id,
    subset: task.subset,
    ...(gold.type !== undefined && { type: gold.type }),
    form: task.form,
    question: task.question,
    golds: gold.answers.length,
    reachable: reach.some,
    reachableAll: reach.all,
    entities: [...answer.entities],
    names: answer.entities.slice(0, shownNames).map((entity) => graph.entityNames[entity] ?? '?'),
    literals: [...answer.literals],
    ...(answer.truth !== undefined && { truth: answer.truth }),
    ...(answer.text !== undefined && { text: answer.text }),
    ...(answer.chain && { chain: answer.chain.map((relation) => graph.relationNames[relation] ?? '?') }),
    ...(answer.verified !== undefined && { verified: answer.verified }),
    metrics,
    matched: matches.strict,
    matchedLenient: matches.lenient,
    ...totals,
    graphReads: answer.cost.graphReads ?? 0,
    encodes: answer.cost.encodes ?? 0,
    phases,
    stop: answer.stop,
    abstained: crash === undefined && (isTruth ? answer.truth === undefined : isSilent(matches)),
    unparsed,
    degraded: answer.degraded,
    atCap: answer.stop === 'budget' || (budget !== null && totals.calls >= budget),
    ...(crash !== undefined && { crash }),
  };
  const miss = missOf(row, sample, answer, context);
  return miss ? { ...row, miss } : row;
}

/** Whether the best answer is right: `hit@1`, or the verdict of a truth question. */
export function isRight({ metrics }: Pick<QuestionRow, 'metrics'>): boolean {
  return (metrics['hit@1'] ?? metrics.accuracy) === 1;
}

const isSilent = ({ items }: Matches) => items.length === 0;

function missOf(
  row: QuestionRow,
  { task, gold }: QuestionSample,
  { chain }: QuestionAnswer,
  { topicGiven }: RowContext,
): QuestionMiss | undefined {
  if (isRight(row)) return undefined;
  if (row.crash !== undefined) return 'crashed';
  // What the graph lacks excuses only those who looked there.
  if (topicGiven || row.graphReads > 0) {
    if (task.topics.every(({ entity }) => entity < 0)) return 'topic-not-in-graph';
    if (!row.reachable) return 'answer-not-reachable';
  }
  if (row.unparsed) return 'unparsed';
  if (row.stop === 'budget') return 'budget';
  if (row.abstained) return 'abstained';
  const isKnown = (known: readonly number[]) => String(known) === String(chain);
  if (chain && gold.chains.length > 0 && !gold.chains.some(isKnown)) return 'wrong-chain';
  return 'wrong-answer';
}
