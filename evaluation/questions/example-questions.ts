/** Questions worked out for the report: what was asked, what is right, what the agent said, and how it came to it. */
import type { QuestionSample } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';
import type { QuestionExample, QuestionRow } from '../../src/run/question-records.js';
import { Rng } from '../../src/run/seeds.js';
import type { QuestionAttempt } from './ask-questions.js';
import { eventText } from './event-text.js';
import { isRight } from './question-row.js';

/** Names of one list, facts, and steps of one question that are kept; the rest is in the rows and traces. */
const kept = { names: 12, facts: 12, steps: 60 };

/** Draws questions, the same ones for every agent that was asked the same. */
export function exampleQuestions(
  samples: readonly QuestionSample[],
  attempts: readonly QuestionAttempt[],
  rows: readonly QuestionRow[],
  graph: Graph,
  count: number,
): QuestionExample[] {
  const order = Rng.named(0, 'evaluation/examples').shuffle(samples.map((_, i) => i));
  return order.slice(0, count).map((i) => exampleQuestion(samples[i]!, attempts[i]!, rows[i]!, graph));
}

function exampleQuestion(
  { task, gold }: QuestionSample,
  { answer, calls, trace, crash }: QuestionAttempt,
  row: QuestionRow,
  graph: Graph,
): QuestionExample {
  const isTruth = task.form === 'truth';
  const said = isTruth ? (row.truth === undefined ? [] : [String(row.truth)]) : [...row.names, ...row.literals];
  const right = isTruth ? [String(gold.truth)] : gold.answers.map(({ name }) => name);
  const [chain] = gold.chains;
  const steps = trace.map((event) => eventText(event, graph));
  const more = steps.length - kept.steps;
  return {
    id: task.id,
    subset: task.subset,
    ...(gold.type !== undefined && { type: gold.type }),
    question: task.question,
    topics: task.topics.map(({ name }) => name),
    gold: right.slice(0, kept.names),
    golds: right.length,
    ...(chain && { goldChain: chain.map((relation) => graph.relationNames[relation] ?? '?') }),
    answer: said.slice(0, kept.names),
    answers: isTruth ? said.length : row.entities.length + row.literals.length,
    right: isRight(row),
    exact: (row.metrics.exact ?? row.metrics.accuracy) === 1,
    ...(row.chain && { chain: [...row.chain] }),
    evidence: (answer?.evidence ?? []).slice(0, kept.facts).map(([head, relation, tail]) => [head, relation, tail]),
    stop: row.stop,
    ...(row.miss && { miss: row.miss }),
    calls: calls.map(({ phase, stage, promptTokens, completionTokens }) => ({
      phase,
      stage,
      promptTokens,
      completionTokens,
    })),
    steps: [
      ...steps.slice(0, kept.steps),
      ...(more > 0 ? [`… and ${more} more`] : []),
      ...(crash === undefined ? [] : [`crashed: ${crash}`]),
    ],
  };
}
