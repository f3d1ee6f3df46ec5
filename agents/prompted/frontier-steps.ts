/**
 * What agents that walk whole sets of entities share: the walk so far, the relations that may follow as candidates with
 * the path walked, and the answer of the walk, taken from its frontier or written by the model.
 */
import type { z } from 'zod';
import { choice } from '../registry.js';
import { excludedTopics, maskedQuestion, type QuestionTask } from '../../datasets/question.js';
import {
  canonicalOrder,
  type Frontier,
  frontierAt,
  frontierRelations,
  initialFrontier,
  stepFrontier,
} from '../../src/kg/frontier.js';
import type { Graph } from '../../src/kg/graph.js';
import { type NameIndex, normalizeName } from '../../src/kg/name-index.js';
import type {
  AnswerDecision,
  AnswerReply,
  Candidate,
  ContextBlock,
  DecisionClient,
  Example,
  JudgeReply,
  NamedTriple,
} from '../../src/llm/decision.js';
import { mostAnswers } from '../../src/llm/decisions/forms/answer.js';
import { frontierEvidence, type QuestionAnswer } from '../question-agent.js';
import { distinctFacts, groundNames, truthOf, unlessSpent } from './facts.js';

/** A relation sequence walked from the topics, and everything it leads to. */
export interface Walk {
  topics: readonly number[];
  /** Entities that never come back: `excludedTopics`. */
  excluded: readonly number[];
  relations: readonly number[];
  /** Before the first step and after each, [relations + 1]. */
  frontiers: readonly Frontier[];
}

/** State of a walk. */
export const frontierOf = ({ frontiers }: Walk): Frontier => frontiers.at(-1)!;

/** The topics that the graph has, each once. */
export function foundTopics({ topics }: QuestionTask): number[] {
  return [...new Set(topics.map(({ entity }) => entity))].filter((entity) => entity >= 0);
}

/** At the topics that the graph has; an empty frontier where it has none. */
export function startWalk(task: QuestionTask): Walk {
  const topics = foundTopics(task);
  return { topics, excluded: excludedTopics(task), relations: [], frontiers: [initialFrontier(topics)] };
}

/** The walk one relation further. */
export function stepWalk(graph: Graph, walk: Walk, relation: number): Walk {
  const frontier = stepFrontier(graph, frontierOf(walk), relation, walk.excluded);
  return { ...walk, relations: [...walk.relations, relation], frontiers: [...walk.frontiers, frontier] };
}

/** The walk restricted to some of its entities. */
export function narrowed(walk: Walk, entities: ReadonlySet<number>): Walk {
  const frontier = frontierOf(walk);
  const indices = [...frontier.entities.keys()].filter((i) => entities.has(frontier.entities[i]!));
  return { ...walk, frontiers: [...walk.frontiers.slice(0, -1), frontierAt(frontier, indices)] };
}

/** Relations that lead on from the frontier, by name: ids depend on how a graph was built. O(edges of the frontier). */
export function onwardRelations(graph: Graph, frontier: Frontier, excluded: readonly number[]): number[] {
  const name = (relation: number) => graph.relationNames[relation]!;
  return [...frontierRelations(graph, frontier, excluded)].sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

/** Edges that `onwardRelations` reads. */
export function frontierDegree(graph: Graph, { entities }: Frontier): number {
  return entities.reduce((sum, entity) => sum + graph.degree(entity), 0);
}

/** `Topic → relation → relation`, names as the graph has them: what every relation choice shows of the way. */
export function pathText(graph: Graph, { topics, relations }: Pick<Walk, 'topics' | 'relations'>): string {
  const start = topics.map((topic) => graph.entityNames[topic]!).join(', ');
  return [start, ...relations.map((relation) => graph.relationNames[relation]!)].join(' → ');
}

/** The way as the part `Path` of a decision. */
export function pathBlock(graph: Graph, walk: Pick<Walk, 'topics' | 'relations'>): ContextBlock {
  return { label: 'Path', lines: [pathText(graph, walk)] };
}

/** Relations as candidates, in their order. */
export function relationCandidates(graph: Graph, relations: readonly number[]): Candidate[] {
  return relations.map((relation) => ({ kind: 'relation', relation, text: graph.relationNames[relation]! }));
}

/** A walk among others, with everything that it leads to. */
export function walkCandidate(graph: Graph, walk: Walk): Candidate {
  const text = walk.relations.map((relation) => graph.relationNames[relation]!).join(' → ');
  return { kind: 'chain', relations: walk.relations, answers: [...frontierOf(walk).entities], text };
}

/** Common fields of all choices among outgoing relations, to spread into a decision. */
export const relationChoice = (graph: Graph, task: QuestionTask, walk: Walk, relations: readonly number[]) => ({
  questionId: task.id,
  question: task.question,
  evidence: [],
  context: [pathBlock(graph, walk)],
  subjects: [...frontierOf(walk).entities],
  candidates: relationCandidates(graph, relations),
});

/** Entities whose name is in the question as whole words, outside mentions of topics. */
export function namedInQuestion(graph: Graph, task: QuestionTask, entities: readonly number[]): number[] {
  const said = ` ${normalizeName(maskedQuestion(task))} `;
  return entities.filter((entity) => {
    const name = normalizeName(graph.entityNames[entity]!);
    return name !== '' && said.includes(` ${name} `);
  });
}

/** Facts that lead to the frontier, one way an entity: first to what the question names, then in the order of answers. */
export function walkFacts(graph: Graph, task: QuestionTask, walk: Walk, limit: number): NamedTriple[] {
  const ends = canonicalOrder(frontierOf(walk));
  const answers = [...new Set([...namedInQuestion(graph, task, ends), ...ends])];
  return frontierEvidence(graph, walk.frontiers, walk.relations, answers, limit);
}

/**
 * Facts of all walks, each once, at most `limit`: every walk has its share, of one whole way at least, and what one leaves over goes
 * to the next. Where that is too much for all, the last walks go without.
 * @param walks best first
 * @param weights what the shares are in proportion to, above 0, [walks]; default all alike
 */
export function walksFacts(
  graph: Graph,
  task: QuestionTask,
  walks: readonly Walk[],
  limit: number,
  weights: readonly number[] = walks.map(() => 1),
): NamedTriple[] {
  let facts: NamedTriple[] = [];
  walks.forEach((walk, i) => {
    const left = weights.slice(i).reduce((sum, weight) => sum + weight, 0);
    const rest = limit - facts.length;
    // Less than one way shows nothing at all.
    const share = Math.min(rest, Math.max(Math.ceil((rest * weights[i]!) / left), walk.relations.length));
    if (share > 0) facts = distinctFacts([...facts, ...walkFacts(graph, task, walk, share)]);
  });
  return facts;
}

/** The ends of the walk that most of the entities lie at, the better walk of equals. */
export function endsHolding(walks: readonly Walk[], entities: readonly number[]): number[] {
  let best: { ends: number[]; held: number } = { ends: [], held: 0 };
  for (const walk of walks) {
    const ends = canonicalOrder(frontierOf(walk));
    const own = new Set(ends);
    const held = entities.filter((entity) => own.has(entity)).length;
    if (held > best.held) best = { ends, held };
  }
  return best.ends;
}

/**
 * Everything that the walk leads to as the answer. A statement holds where it names some of that, and fails where it names none.
 * @param entities the frontier in canonical order
 */
export function frontierAnswers(
  graph: Graph,
  task: QuestionTask,
  entities: readonly number[],
): Pick<QuestionAnswer, 'entities' | 'literals' | 'truth'> {
  if (task.form === 'entities') return { entities, literals: [] };
  const truth = entities.length > 0 ? { truth: namedInQuestion(graph, task, entities).length > 0 } : {};
  return { entities: [], literals: [], ...truth };
}

/** The switch of agents that can answer either way. */
export const answersSwitch = choice(['auto', 'model', 'frontier'], 'auto').describe(
  'Where answers come from: what the model writes, or everything that the walk leads to; auto is the latter where candidates are scored by likelihood.',
);

/** True when answers come from the frontier. */
export const fromFrontier = (
  answers: z.output<typeof answersSwitch>,
  { byLikelihood }: Pick<DecisionClient, 'byLikelihood'>,
): boolean => answers === 'frontier' || (answers === 'auto' && byLikelihood);

/** Tasks of the final answer, for questions and for statements. */
export interface AnswerPrompts {
  task: string;
  examples: readonly Example<AnswerReply>[];
  truthTask: string;
  truthExamples: readonly Example<AnswerReply>[];
}

/** Task and examples for a question, or for a statement. */
export function promptsFor(
  form: QuestionTask['form'],
  { task, examples, truthTask, truthExamples }: AnswerPrompts,
): Pick<AnswerDecision, 'task' | 'examples'> {
  return form === 'truth' ? { task: truthTask, examples: truthExamples } : { task, examples };
}

/** Examples of a verdict with the answers, where the verdict alone is asked for: an answer would be a reply that cannot be given. */
export function verdictsAlone(examples: readonly Example<JudgeReply>[]): readonly Example<JudgeReply>[] {
  return examples.map(({ reply, ...example }) => ({ ...example, reply: { ...reply, answers: [] } }));
}

interface AnswerOptions {
  phase?: string;
  /** Default false. */
  withReasoning?: boolean;
  joinFacts?: boolean;
}

/** Requests the answer, on the call reserved by the budget. Undefined for an unreadable reply or a spent budget. */
export async function askAnswer(...asked: Parameters<typeof decideAnswer>): Promise<AnswerReply | undefined> {
  return (await unlessSpent(decideAnswer(...asked)))?.reply;
}

/** The same, as a result: no reply when nothing could be read. @throws as `decide` */
export function decideAnswer(
  { id: questionId, question, form }: QuestionTask,
  client: DecisionClient,
  evidence: readonly NamedTriple[],
  prompts: AnswerPrompts,
  { phase = 'answer', withReasoning = false, joinFacts }: AnswerOptions = {},
) {
  return client.decide({
    ...{ kind: 'answer', phase, questionId, question, evidence, form, withReasoning, final: true },
    ...(joinFacts && { joinFacts }),
    ...promptsFor(form, prompts),
  });
}

/**
 * What the model said as answers: entities by their names, ends of the walk before others of the name that were met, these
 * before all others. A list of as many names as a reply may hold, all of them ends of the walk, stands for all of its ends: the form cut it.
 * @param ends of the walk, best first; default none
 * @param met entities of the facts that were shown; default none
 */
export function saidAnswers(
  task: QuestionTask,
  said: readonly string[],
  { names, met, ends = [] }: { names: Pick<NameIndex, 'lookup'>; met?: ReadonlySet<number>; ends?: readonly number[] },
): Pick<QuestionAnswer, 'entities' | 'literals' | 'truth' | 'text'> {
  const text = said.join('; ');
  if (task.form === 'truth') return { entities: [], literals: [], ...truthOf(said), text };
  const isEnd = new Set(ends);
  const lookup = (name: string) => {
    const homonyms = names.lookup(name);
    const atEnd = homonyms.filter((entity) => isEnd.has(entity));
    return atEnd.length > 0 ? atEnd : homonyms;
  };
  const { entities, literals } = groundNames(said, { lookup }, met);
  const isCut = said.length === mostAnswers && literals.length === 0 && entities.every((entity) => isEnd.has(entity));
  return { entities: isCut ? [...new Set([...entities, ...ends])] : entities, literals, text };
}

/** One walk per entity. */
export function takenApart(walk: Walk): Walk[] {
  return [...frontierOf(walk).entities].map((entity) => narrowed(walk, new Set([entity])));
}

/** One walk per relation sequence, in order of first occurrence: the union of its walks. */
export function putTogether(walks: readonly Walk[]): Walk[] {
  const bySequence = new Map<string, Walk>();
  for (const walk of walks) {
    const key = walk.relations.join();
    const known = bySequence.get(key);
    const last = walk.frontiers.length - 1;
    const together = (i: number) =>
      // Inner frontiers are shared; last frontiers have separate paths.
      union(known!.frontiers[i]!, walk.frontiers[i]!, i === last ? (a, b) => a + b : Math.max);
    bySequence.set(key, known ? { ...walk, frontiers: walk.frontiers.map((_, i) => together(i)) } : walk);
  }
  return [...bySequence.values()];
}

function union(a: Frontier, b: Frontier, join: (a: number, b: number) => number): Frontier {
  const counts = new Map<number, number>();
  for (const { entities, counts: own } of [a, b]) {
    entities.forEach((entity, i) => {
      const known = counts.get(entity);
      counts.set(entity, known === undefined ? own[i]! : join(known, own[i]!));
    });
  }
  const entities = Int32Array.from(counts.keys()).sort();
  return { entities, counts: Float64Array.from(entities, (entity) => counts.get(entity)!) };
}
