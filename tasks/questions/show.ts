/** Text of agents' traces on questions. */
import type { QuestionAnswer, TraceEvent } from '../../agents/question-agent.js';
import type { QuestionSample } from '../../datasets/question.js';
import type { Traced } from '../../evaluation/evaluate.js';
import type { Attempt } from '../../evaluation/score.js';
import { type Graph, inverseName } from '../../src/kg/graph.js';
import type { Example, Section } from '../../src/run/evaluation.js';
import { isRight, type QuestionRow } from './row.js';

export function eventText(event: TraceEvent, graph: Graph): string {
  const named = (entities: readonly number[]) => entities.map((entity) => graph.entityNames[entity] ?? '?').join('; ');
  switch (event.event) {
    case 'start':
      return `start at ${named(event.entities) || 'nothing'}`;
    case 'decision':
      return `${event.phase}: ${event.summary}`;
    case 'graph':
      return `graph: ${event.operation}, ${event.reads} read`;
    case 'branch-open':
    case 'branch-close':
      return `branch ${event.branch} ${event.event === 'branch-open' ? 'opens' : 'closes'}: ${event.detail}`;
    case 'memory-write':
      return `remembers ${event.key}: ${chainText(event.chain, graph)}`;
    case 'hops':
      return `predicted hops: ${event.predicted}`;
    case 'note':
      return event.text;
    case 'stop':
      return `stop: ${event.reason}`;
  }
}

export const chainText = (relations: readonly number[], { relationNames }: Graph) =>
  relations.map((id) => relationNames[id] ?? '?').join(' → ');

/** Each entity that a topic is connected to by the facts of an answer, with the walk from there: the shortest, either way along a fact. */
export function originsOf(
  topics: readonly string[],
  evidence: QuestionAnswer['evidence'],
): ReadonlyMap<string, string> {
  const facts = evidence.map(([head, relation, tail]) => ({ head, relation, tail }));
  const both = [
    ...facts,
    ...facts.map(({ head, relation, tail }) => ({ head: tail, relation: inverseName(relation), tail: head })),
  ];
  const leaving = Map.groupBy(both, ({ head }) => head);
  const origins = new Map(topics.map((topic) => [topic, topic]));
  // What is added is visited, too.
  for (const [at, walk] of origins) {
    for (const { relation, tail } of leaving.get(at) ?? []) {
      if (!origins.has(tail)) origins.set(tail, `${walk} —${relation}→ ${tail}`);
    }
  }
  return origins;
}

/** Names of one list, facts, and steps of one question that are kept; the rest is in the rows and traces. */
const kept = { names: 12, facts: 12, steps: 60 };

/** A question worked out: what was asked, what is right, what the agent said, and how it came to it. */
export function exampleOf(
  { task, gold }: QuestionSample,
  { answer, calls = [], trace = [], failure }: Attempt<QuestionAnswer>,
  row: QuestionRow,
  graph: Graph,
): Example {
  const isTruth = task.form === 'truth';
  const said = isTruth ? (row.truth === undefined ? [] : [String(row.truth)]) : [...row.names, ...row.literals];
  const right = isTruth ? [String(gold.truth)] : gold.answers.map(({ name }) => name);
  const matched = new Set(row.matched.map((index) => right[index]));
  const [known] = gold.chains;
  const steps = trace.map((event) => eventText(event, graph));
  const more = steps.length - kept.steps;
  const evidence = answer?.evidence ?? [];
  return {
    id: task.id,
    asked: [task.question],
    topics: task.topics.map(({ name }) => name),
    gold: right.slice(0, kept.names),
    golds: right.length,
    answers: said.slice(0, kept.names).map((text) => ({ text, right: isTruth ? isRight(row) : matched.has(text) })),
    right: isRight(row),
    miss: row.miss,
    lines: [
      ...(known ? [`gold chain: ${chainText(known, graph)}`] : []),
      ...(row.chain ? [`chain: ${row.chain.join(' → ')}`] : []),
      ...evidence.slice(0, kept.facts).map(([head, relation, tail]) => `${head} —${relation}→ ${tail}`),
      ...steps.slice(0, kept.steps),
      ...(more > 0 ? [`… and ${more} more`] : []),
      ...(failure === undefined ? [] : [`crashed: ${failure}`]),
      `${row.stop} · ${calls.length} calls`,
    ],
  };
}

/** Trace of one question: events, then each call with its tokens and parsed reply, then the answer. */
export function traceOf(row: QuestionRow, { trace, calls }: Traced, graph: Graph): Section[] {
  const said = row.truth !== undefined ? [String(row.truth)] : [...row.names, ...row.literals];
  return [
    { title: row.question, lines: trace.map((event) => `  ${eventText(event, graph)}`) },
    ...(calls.length === 0
      ? []
      : [
          {
            title: 'Calls',
            rows: calls.map(({ phase, attempt, stage, promptTokens, cachedTokens, completionTokens }, i) => ({
              ...{ call: i + 1, phase, attempt, reply: stage },
              ...{ prompt: promptTokens, cached: cachedTokens, written: completionTokens },
            })),
          },
        ]),
    { title: 'Answer', lines: [`answer: ${said.join('; ') || 'none'} (${row.stop})`] },
  ];
}
