/**
 * StructGPT: read, then reason, hop by hop. The model picks one relation of everything reached so far, the graph gives the facts behind
 * it, and the model says whether they answer the question.
 *
 * Inputs: the question and its topic entities. Calls: a hop 1 for the relation, none where one alone leads on, and 1 for the verdict, with
 * the answers in it; 1 for the answer where no verdict was good; 1 for constraints where the walk meets nodes that stand for an event.
 * Stop: `answered`, `hops` (as many as given or predicted), `depth`, `no-way`, `unread` (no relation could be read), `no-topic`, `budget`.
 * Output: the answers of the verdict among the entities that the walk leads to, or all of these (`answers`).
 *
 * Where the reference differs: it finds relation names anywhere in a reply, so that a name inside another is chosen as well, ends after
 * one hop, and takes any "no" in a reply, as in "nominated", for a denial.
 * @source Jiang et al. 2023, "StructGPT", section 4.2; RUCAIBox/StructGPT
 */
import { z } from 'zod';
import { flag, whole } from '../../registry.js';
import { canonicalOrder, type Frontier, frontierAt } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';
import { normalizeName } from '../../../src/kg/name-index.js';
import type { JudgeDecision } from '../../../src/llm/decision.js';
import type { QuestionAnswer } from '../../question-agent.js';
import { alonePrompts } from '../direct-answer.js';
import {
  answersSwitch,
  askAnswer,
  fromFrontier,
  frontierAnswers,
  frontierDegree,
  frontierOf,
  pathText,
  relationChoice,
  saidAnswers,
  stepWalk,
  walkFacts,
} from '../frontier-steps.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';
import { Attempt, walkingAgent, type WalkingParts } from '../walking-agent.js';
import * as prompts from './prompts.js';

const structGptSettings = z.strictObject({
  maxHops: whole(1, 8, 3).describe('Longest walk where nothing ends it before.'),
  hops: hopsOrEndSwitch,
  answers: answersSwitch,
  facts: whole(1, 1000, 60).describe('Facts in a prompt, one way to each entity reached.'),
  constraints: flag(true).describe(
    'On nodes that stand for an event: keep those whose facts hold what the question names.',
  ),
  ...prefilterSettings,
});

/** The agent `structgpt` with its switches. */
export const structGptEntry = walkingAgent(
  'structgpt',
  structGptSettings,
  (parts) => (task, session) => answer(new StructGptAttempt(task, session, parts)),
  { walksRemote: true },
);

class StructGptAttempt extends Attempt<WalkingParts<z.output<typeof structGptSettings>>> {
  walk = this.start;
  /** Answers of a verdict that the facts suffice. */
  answers?: readonly string[];
}

async function answer(attempt: StructGptAttempt): Promise<QuestionAnswer> {
  const { task, graph, settings, client } = attempt;
  const stop = await attempt.explored(() => walkOn(attempt));
  const { walk, confidence } = attempt;
  const walked = walk.relations.length > 0;
  const ends = walked ? canonicalOrder(frontierOf(walk)) : [];
  const evidence = walked ? walkFacts(graph, task, walk, settings.facts) : [];
  const answered = await answersOf(attempt, ends, evidence);
  return {
    ...answered,
    chain: walked ? walk.relations : undefined,
    // Of words that were written the walk's shares say nothing.
    confidence: walked && fromFrontier(settings.answers, client) ? confidence : undefined,
    evidence,
    verified: stop === 'answered' || undefined,
    ...attempt.ended(stop),
  };
}

/** Walks until something ends it, and says what. */
async function walkOn(attempt: StructGptAttempt): Promise<string> {
  const { graph, settings, session } = attempt;
  const hops = await attempt.hops();
  const constraints = constraintsOnce(attempt);
  for (let hop = 1; hop <= (hops ?? settings.maxHops); hop++) {
    const relation = await nextRelation(attempt);
    if (typeof relation === 'string') return relation;
    const walk = stepWalk(graph, attempt.walk, relation);
    attempt.walk = walk;
    session.trace({ event: 'decision', phase: 'relation', summary: pathText(graph, walk) });
    if (settings.constraints && frontierOf(walk).entities.some((entity) => isMediator(graph, entity))) {
      await graph.ensure(frontierOf(walk).entities, session.signal);
      const narrowed = heldBy(graph, frontierOf(walk), await constraints());
      attempt.graphReads += frontierDegree(graph, frontierOf(walk));
      attempt.walk = { ...walk, frontiers: [...walk.frontiers.slice(0, -1), narrowed] };
    }
    if (hops === undefined && (await suffices(attempt))) return 'answered';
  }
  return hops === undefined ? 'depth' : 'hops';
}

/** The relation to follow, or why there is none. */
async function nextRelation(attempt: StructGptAttempt): Promise<number | 'no-way' | 'unread'> {
  const { walk, graph, task, client, session } = attempt;
  await graph.ensure(frontierOf(walk).entities, session.signal);
  const { relations, share } = await attempt.onward(walk);
  const [first] = relations;
  if (first === undefined) return 'no-way';
  if (relations.length === 1) {
    attempt.chose(share);
    return first;
  }
  const { reply, confidence } = await client.decide({
    ...relationChoice(graph, task, walk, relations),
    ...{ kind: 'choose-one', phase: 'relation', allowNone: false },
    ...{ task: prompts.relationTask, examples: prompts.relationExamples },
  });
  attempt.chose(confidence);
  if (reply) return relations[reply.choice]!;
  attempt.degraded = true;
  return 'unread';
}

/** Constraints on the answer, requested once. */
function constraintsOnce({ task, client }: StructGptAttempt): () => Promise<readonly string[]> {
  let asked: Promise<readonly string[]> | undefined;
  const ask = async () => {
    const { reply } = await client.decide({
      ...{ kind: 'extract', phase: 'constraints', questionId: task.id, question: task.question, maxItems: 5 },
      ...{ task: prompts.constraintTask, examples: prompts.constraintExamples, evidence: [] },
    });
    return reply?.items ?? [];
  };
  return () => (asked ??= ask());
}

/** True when the model finds the facts sufficient; its answers are kept. */
async function suffices(attempt: StructGptAttempt): Promise<boolean> {
  const { walk, graph, task, client, settings } = attempt;
  const ends = canonicalOrder(frontierOf(walk));
  const withAnswers = !fromFrontier(settings.answers, client);
  const text = `${pathText(graph, walk)} (${ends.length})`;
  const decision: JudgeDecision = {
    ...{ kind: 'judge', phase: 'judge', questionId: task.id, question: task.question, withAnswers },
    task: withAnswers ? prompts.judgeTask : prompts.verdictTask,
    examples: withAnswers ? prompts.judgeExamples : prompts.verdictExamples,
    evidence: walkFacts(graph, task, walk, settings.facts),
    // Of one candidate alone a likelihood says nothing: there the facts are judged, by yes and no.
    candidates: client.byLikelihood ? [] : [{ kind: 'chain', relations: walk.relations, answers: ends, text }],
    subjects: walk.topics,
  };
  const { reply, confidence } = await client.decide(decision);
  attempt.chose(confidence);
  if (!reply) attempt.degraded = true;
  if (reply?.choice !== 0) return false;
  attempt.answers = reply.answers;
  return true;
}

/** The verdict's answers, or everything reached, or what the model says to the facts in the end. */
async function answersOf(
  attempt: StructGptAttempt,
  ends: readonly number[],
  evidence: QuestionAnswer['evidence'],
): Promise<Pick<QuestionAnswer, 'entities' | 'literals' | 'truth' | 'text'>> {
  const { answers, task, client, graph, settings, walk } = attempt;
  const { dataset, names } = attempt.parts.resources;
  if (fromFrontier(settings.answers, client) || answers?.length === 0) return frontierAnswers(graph, task, ends);
  const met = new Set(walk.frontiers.flatMap(({ entities }) => [...entities]));
  if (answers) {
    const nameOf = (entity: number) => normalizeName(graph.entityNames[entity]!);
    // A name that nothing reached bears was not read off the facts: it counts as text alone.
    const lookup = (name: string) => ends.filter((entity) => nameOf(entity) === normalizeName(name));
    return saidAnswers(task, answers, { names: { lookup }, met, ends });
  }
  const alone = evidence.length === 0;
  const asked = alone ? alonePrompts(dataset) : prompts.answerPrompts;
  const reply = await askAnswer(task, client, evidence, asked, { withReasoning: alone });
  attempt.degraded ||= reply === undefined;
  return saidAnswers(task, reply?.answers ?? [], { names, met, ends });
}

/** Unnamed nodes have their id as name, such as Freebase's compound values. */
const unnamed = /^[mg]\.[0-9a-z_]+$/;

const isMediator = (graph: Graph, entity: number): boolean => unnamed.test(graph.entityNames[entity]!);

/**
 * The frontier without mediators that match fewer phrases than others; the whole frontier if none matches any. O(edges of the mediators).
 * @param phrases constraints: names, and years of dates
 */
export function heldBy(graph: Graph, frontier: Frontier, phrases: readonly string[]): Frontier {
  const wanted = phrases.map(normalizeName).filter((phrase) => phrase !== '');
  const held = Array.from(frontier.entities, (entity) =>
    isMediator(graph, entity) ? heldPhrases(graph, entity, wanted) : undefined,
  );
  const most = Math.max(0, ...held.map((count) => count ?? 0));
  const kept = [...held.keys()].filter((i) => held[i] === undefined || held[i] === most);
  return frontierAt(frontier, kept);
}

/** Number of phrases that name a neighbour of the node. */
function heldPhrases(graph: Graph, entity: number, phrases: readonly string[]): number {
  const names = Array.from(graph.tails.subarray(graph.offsets[entity], graph.offsets[entity + 1]), (tail) =>
    normalizeName(graph.entityNames[tail]!),
  );
  return phrases.filter((phrase) => names.some((name) => name === phrase || isYearOf(name, phrase))).length;
}

const isYearOf = (date: string, phrase: string): boolean => /^\d{4}$/.test(phrase) && date.startsWith(`${phrase}-`);
