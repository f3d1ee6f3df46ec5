/**
 * Choices of agents that follow several relations at once: which of them, and in the end which of the walks answers the question,
 * where everything that it leads to is the answer.
 */
import type { QuestionTask } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';
import type { ChooseManyDecision, DecisionClient, Example, JudgeReply } from '../../src/llm/decision.js';
import { unlessSpent } from './facts.js';
import { pathBlock, startWalk, type Walk, walkCandidate } from './frontier-steps.js';

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

/** Chosen walk. */
export interface WalkChoice {
  walk: Walk;
  /** If reported by the model. */
  confidence?: number;
  /** True when the model chose it; otherwise it is the first. */
  judged: boolean;
  /** Its reply could not be read. */
  unread: boolean;
}

/** @param walks best first, at least one; of one there is nothing to ask, nor where the budget is spent */
export async function chooseWalk(
  graph: Graph,
  { id: questionId, question, ...rest }: QuestionTask,
  client: DecisionClient,
  walks: readonly Walk[],
): Promise<WalkChoice> {
  const first = { walk: walks[0]!, judged: false, unread: false };
  if (walks.length < 2) return first;
  const decided = await unlessSpent(
    client.decide({
      ...{ kind: 'judge', phase: 'walk', questionId, question, task, examples, evidence: [] },
      context: [pathBlock(graph, startWalk({ id: questionId, question, ...rest }))],
      candidates: walks.map((walk) => walkCandidate(graph, walk)),
      ...{ withAnswers: false, final: true },
    }),
  );
  if (!decided?.reply) return { ...first, unread: decided !== undefined };
  const walk = walks[decided.reply.choice];
  const { confidence } = decided;
  return walk ? { ...{ walk, judged: true, unread: false }, confidence } : first;
}

/** Choice of the items to follow. */
export interface SomeChosen {
  /** Places in the candidates, best first; absent where the reply cannot be read. */
  choices?: readonly number[];
  /** If reported by the model. */
  confidence?: number;
}

/**
 * At most `maxChoices` candidates: those that the model chooses, where words are scored the likeliest, as many as there may be.
 * @throws what `decide` throws
 */
export async function chooseSome(client: DecisionClient, decision: ChooseManyDecision): Promise<SomeChosen> {
  if (!client.byLikelihood) {
    const { reply, confidence } = await client.decide(decision);
    return { ...(reply && { choices: reply.choices }), confidence };
  }
  const { maxChoices, examples, candidates, ...rest } = decision;
  const { reply, confidence } = await client.decide({
    ...rest,
    ...{ kind: 'score', candidates },
    examples: examples.map(({ reply: { choices }, ...example }) => ({
      ...example,
      reply: { scores: (example.candidates ?? []).map((_, place) => (choices.includes(place) ? 10 : 0)) },
    })),
  });
  const order = reply && [...reply.scores.keys()].sort((a, b) => reply.scores[b]! - reply.scores[a]! || a - b);
  const choices = order?.filter((place) => reply!.scores[place]! > 0).slice(0, maxChoices);
  return { choices, confidence };
}
