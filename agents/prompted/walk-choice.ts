/**
 * Choices of agents that follow several relations at once: which of them, and in the end the answer, written from the facts of all
 * walks, or everything that one of them leads to.
 */
import type { QuestionTask } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';
import type { NameIndex } from '../../src/kg/name-index.js';
import type { ChooseManyDecision, DecisionClient, Example, JudgeReply } from '../../src/llm/decision.js';
import { canonicalOrder } from '../../src/kg/frontier.js';
import type { QuestionAnswer } from '../question-agent.js';
import { alonePrompts } from './direct-answer.js';
import { groundNames, unlessSpent } from './facts.js';
import {
  type AnswerPrompts,
  decideAnswer,
  endsHolding,
  frontierAnswers,
  frontierOf,
  pathBlock,
  pathText,
  saidAnswers,
  startWalk,
  type Walk,
  walkCandidate,
  walkFacts,
  walksFacts,
} from './frontier-steps.js';
import type { Attempt, WalkingParts } from './walking-agent.js';

const task =
  'Each candidate is a path of relations from the thing that the question starts from. Choose the one that leads to what is asked, or 0 if none does.';

const examples: readonly Example<JudgeReply>[] = [
  {
    question: 'who keeps the bees that Marit Oss sold',
    context: [{ label: 'Path', lines: ['Marit Oss'] }],
    candidates: ['~sold_by', 'lives_in → ~lives_in', '~sold_by → kept_by'],
    reply: { choice: 2, reason: 'From what she sold to its keepers.', answers: [] },
  },
];

interface WalkChoice {
  walk: Walk;
  confidence?: number;
  /** True when the model chose it; otherwise it is the first. */
  judged: boolean;
  unread: boolean;
}

/** @param walks best first, at least one; of one there is nothing to ask, nor where the budget is spent */
export async function chooseWalk(
  graph: Graph,
  asked: QuestionTask,
  client: DecisionClient,
  walks: readonly Walk[],
): Promise<WalkChoice> {
  const first = { walk: walks[0]!, judged: false, unread: false };
  if (walks.length < 2) return first;
  const decided = await unlessSpent(
    client.decide({
      ...{ kind: 'judge', phase: 'walk', questionId: asked.id, question: asked.question, task, examples, evidence: [] },
      context: [pathBlock(graph, startWalk(asked))],
      candidates: walks.map((walk) => walkCandidate(graph, walk)),
      ...{ withAnswers: false, final: true },
    }),
  );
  if (!decided?.reply) return { ...first, unread: decided !== undefined };
  const walk = walks[decided.reply.choice];
  return walk ? { walk, judged: true, unread: false, confidence: decided.confidence } : first;
}

/** Choice of the items to follow. */
export interface SomeChosen {
  /** Places in the candidates, best first; absent where the reply cannot be read. */
  choices?: readonly number[];
  confidence?: number;
}

/**
 * At most `maxChoices` candidates: those that the model chooses, where words are scored the likeliest, as many as there may be.
 * @throws what `decide` throws
 */
export async function chooseSome(client: DecisionClient, decision: ChooseManyDecision): Promise<SomeChosen> {
  if (!client.byLikelihood) {
    const { reply, confidence } = await client.decide(decision);
    return { choices: reply?.choices, confidence };
  }
  const { maxChoices, examples, candidates, ...rest } = decision;
  const { reply, confidence } = await client.decide({
    ...rest,
    ...{ kind: 'score', candidates },
    examples: examples.map(({ reply: { choices }, ...example }) => ({
      ...example,
      reply: { scores: (example.candidates ?? []).map((_, index) => (choices.includes(index) ? 10 : 0)) },
    })),
  });
  const order = reply && [...reply.scores.keys()].sort((a, b) => reply.scores[b]! - reply.scores[a]! || a - b);
  const choices = order?.filter((index) => reply!.scores[index]! > 0).slice(0, maxChoices);
  return { choices, confidence };
}

type WalksAttempt = Attempt<WalkingParts<{ facts: number }>>;

/** An answer, with how its own call ended: `unparsed` and `budget` where there is no reply. */
type WalksAnswer = Omit<QuestionAnswer, 'stop' | 'cost'> & { stop: 'answered' | 'unparsed' | 'budget' };

/** The answer in the model's words, from the facts of all walks. @param weights of the walks in the prompt; default: alike */
export async function writtenAnswer(
  { task, client, parts, settings }: WalksAttempt,
  walks: readonly Walk[],
  { prompts, weights, joinFacts }: { prompts: AnswerPrompts; weights?: number[]; joinFacts?: boolean },
): Promise<WalksAnswer> {
  const { dataset, graph, names } = parts.resources;
  const evidence = walksFacts(graph, task, walks, settings.facts, weights);
  // Without facts the model answers from memory.
  const alone = evidence.length === 0;
  const options = { withReasoning: alone, joinFacts: joinFacts && !alone };
  const asked = decideAnswer(task, client, evidence, alone ? alonePrompts(dataset) : prompts, options);
  const decided = await unlessSpent(asked);
  const said = decided?.reply?.answers;
  const stop = said ? 'answered' : decided ? 'unparsed' : 'budget';
  return { ...readAnswers(task, said ?? [], names, walks), evidence, degraded: !said, stop };
}

/** Answers by name, of homonyms those that the walks met, at the end of one walk first. */
export function readAnswers(
  task: QuestionTask,
  said: readonly string[],
  names: Pick<NameIndex, 'lookup'>,
  walks: readonly Walk[],
): ReturnType<typeof saidAnswers> {
  const met = new Set(walks.flatMap(({ frontiers }) => frontiers.flatMap(({ entities }) => [...entities])));
  return saidAnswers(task, said, { names, met, ends: endsHolding(walks, groundNames(said, names, met).entities) });
}

/**
 * Everything that the walk leads to which the model chooses.
 * @param sure confidence of each walk if the choice has none: of one that was chosen, or of one that is the first or only one
 */
export async function chosenAnswer(
  { task, client, session, graph, settings }: WalksAttempt,
  walks: readonly Walk[],
  sure: (walk: Walk, judged: boolean) => number | undefined,
): Promise<WalksAnswer> {
  if (walks.length === 0) return { entities: [], literals: [], evidence: [], degraded: false, stop: 'answered' };
  const { walk, judged, unread, confidence = sure(walk, judged) } = await chooseWalk(graph, task, client, walks);
  session.trace({ event: 'decision', phase: 'walk', summary: pathText(graph, walk) });
  return {
    ...frontierAnswers(graph, task, canonicalOrder(frontierOf(walk))),
    chain: walk.relations,
    confidence,
    evidence: walkFacts(graph, task, walk, settings.facts),
    degraded: unread,
    stop: unread ? 'unparsed' : 'answered',
  };
}
