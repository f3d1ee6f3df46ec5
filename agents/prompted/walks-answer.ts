/** The answer of agents that keep several walks: written from the facts of all of them, or everything that one of them leads to. */
import type { QuestionTask } from '../../datasets/question.js';
import { canonicalOrder } from '../../src/kg/frontier.js';
import type { QuestionAgentResources, QuestionAnswer, QuestionSession } from '../question-agent.js';
import { alonePrompts } from './direct-answer.js';
import { groundNames, unlessSpent } from './facts.js';
import {
  type AnswerPrompts,
  decideAnswer,
  endsHolding,
  frontierAnswers,
  frontierOf,
  pathText,
  saidAnswers,
  type Walk,
  walkFacts,
  walksFacts,
} from './frontier-steps.js';
import { chooseWalk } from './walk-choice.js';

/** An answer, with how its own call ended: `unparsed` and `budget` where there is no reply. */
export type WalksAnswer = Omit<QuestionAnswer, 'stop' | 'cost'> & { stop: 'answered' | 'unparsed' | 'budget' };

/** The answer in the model's words, from the facts of all walks. @param weights of the walks in the prompt; default: alike */
export async function writtenAnswer(
  task: QuestionTask,
  { client }: QuestionSession,
  { dataset, graph, names }: QuestionAgentResources,
  walks: readonly Walk[],
  {
    prompts,
    facts,
    weights,
    joinFacts,
  }: { prompts: AnswerPrompts; facts: number; weights?: number[]; joinFacts?: boolean },
): Promise<WalksAnswer> {
  const evidence = walksFacts(graph, task, walks, facts, weights);
  // Without facts the model answers from memory.
  const alone = evidence.length === 0;
  const asked = alone ? alonePrompts(dataset) : prompts;
  const decided = await unlessSpent(decideAnswer(task, client, evidence, asked, alone, joinFacts && !alone));
  const read = decided?.reply !== undefined;
  const said = decided?.reply?.answers ?? [];
  const met = new Set(walks.flatMap(({ frontiers }) => frontiers.flatMap(({ entities }) => [...entities])));
  const ends = endsHolding(walks, groundNames(said, names, met).entities);
  const stop = read ? 'answered' : decided ? 'unparsed' : 'budget';
  return { ...saidAnswers(task, said, { names, met, ends }), evidence, degraded: !read, stop };
}

/**
 * Everything that the walk leads to which the model chooses.
 * @param sure confidence of each walk if the choice has none: of one that was chosen, or of one that is the first or only one
 */
export async function chosenAnswer(
  task: QuestionTask,
  { client, trace }: QuestionSession,
  { graph }: QuestionAgentResources,
  walks: readonly Walk[],
  { facts, sure }: { facts: number; sure: (walk: Walk, judged: boolean) => number | undefined },
): Promise<WalksAnswer> {
  if (walks.length === 0) return { entities: [], literals: [], evidence: [], degraded: false, stop: 'answered' };
  const { walk, judged, unread, ...choice } = await chooseWalk(graph, task, client, walks);
  const confidence = choice.confidence ?? sure(walk, judged);
  trace({ event: 'decision', phase: 'walk', summary: pathText(graph, walk) });
  return {
    ...frontierAnswers(graph, task, canonicalOrder(frontierOf(walk))),
    chain: walk.relations,
    confidence,
    evidence: walkFacts(graph, task, walk, facts),
    degraded: unread,
    stop: unread ? 'unparsed' : 'answered',
  };
}
