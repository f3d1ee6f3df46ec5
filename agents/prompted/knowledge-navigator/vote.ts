/** Votes: the question and its paraphrases choose relations, one call each. */
import type { QuestionTask } from '../../../datasets/question.js';
import type { ChooseOneDecision, DecisionClient } from '../../../src/llm/decision.js';
import { unlessSpent } from '../facts.js';
import { namesTopic } from '../kg-gpt/segments.js';
import { chooseSome, type SomeChosen } from '../walk-choice.js';
import * as prompts from './prompts.js';

export interface Voter {
  text: string;
  weight: number;
  /** Phase of its calls, separate for each voter, so that calls are counted and errors drawn independently. */
  phase: string;
}

/**
 * The question and, by one call, the given number of paraphrases. A paraphrase without a topic is discarded.
 * The question votes for discarded ones, with their weight; where none is, it votes alone.
 * @returns `degraded` where no paraphrase of use was written, but some were asked for
 */
export async function votersOf(
  task: QuestionTask,
  client: DecisionClient,
  { paraphrases, weight }: { paraphrases: number; weight: number },
): Promise<{ voters: readonly Voter[]; degraded: boolean }> {
  const { id: questionId, question } = task;
  const itself: Voter = { text: question, weight: 1, phase: 'relation' };
  if (paraphrases === 0) return { voters: [itself], degraded: false };
  const { reply } = await client.decide({
    ...{ kind: 'rewrite', about: 'paraphrase', phase: 'paraphrase', questionId, question, evidence: [] },
    ...{ task: prompts.paraphraseTask, examples: prompts.paraphraseExamples, count: paraphrases },
  });
  const texts = (reply?.texts ?? []).filter((text) => namesTopic(task, text));
  if (texts.length === 0) return { voters: [itself], degraded: true };
  const others = Array.from({ length: paraphrases }, (_, i): Voter => ({
    text: texts[i] ?? question,
    weight,
    phase: `relation-${i + 2}`,
  }));
  return { voters: [itself, ...others], degraded: false };
}

type Ballot = Omit<ChooseOneDecision, 'kind' | 'phase' | 'question' | 'task' | 'examples' | 'allowNone'>;

/**
 * Lets each voter choose up to the given number of candidates. A vote that cannot be read counts for nothing; where the budget ends,
 * those count that were cast.
 * @returns candidates by their place, at most the given number, most votes first, the earlier voter's choice of equals, with their share of
 *   the weight of all votes that were read, each vote as sure as its model was; and if some vote could not be read
 * @throws BudgetSpent where not one vote could be cast
 */
export async function vote(
  client: DecisionClient,
  voters: readonly Voter[],
  ballot: Ballot,
  { best, note = '' }: { best: number; /** Addition to the task. */ note?: string },
) {
  const tally = new Map<number, { votes: number; sure: number }>();
  let [cast, unread] = [0, false];
  for (const [index, voter] of voters.entries()) {
    const asked = ask(client, voter, ballot, best, note);
    const chosen = await (index === 0 ? asked : unlessSpent(asked));
    if (!chosen) break;
    if (!chosen.choices) {
      unread = true;
      continue;
    }
    cast += voter.weight;
    for (const choice of chosen.choices) {
      const { votes, sure } = tally.get(choice) ?? { votes: 0, sure: 0 };
      const own = voter.weight * (chosen.confidence ?? 1);
      tally.set(choice, { votes: votes + voter.weight, sure: sure + own });
    }
  }
  const ranked = [...tally].sort(([, a], [, b]) => b.votes - a.votes);
  const elected = ranked.slice(0, best).map(([index, { sure }]) => ({ index, share: sure / cast }));
  return { elected, unread };
}

async function ask(
  client: DecisionClient,
  { text: question, phase }: Voter,
  ballot: Ballot,
  best: number,
  note: string,
): Promise<SomeChosen> {
  const common = { ...ballot, question, phase };
  if (best > 1) {
    const [task, examples] = [prompts.relationsTask + note, prompts.relationsExamples];
    return chooseSome(client, { ...common, kind: 'choose-many', task, examples, maxChoices: best });
  }
  const [task, examples] = [prompts.relationTask + note, prompts.relationExamples];
  const { reply, confidence } = await client.decide({
    ...{ ...common, task, examples },
    ...{ kind: 'choose-one', allowNone: false },
  });
  return { choices: reply && [reply.choice], confidence };
}
