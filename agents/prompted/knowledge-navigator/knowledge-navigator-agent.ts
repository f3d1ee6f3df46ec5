/**
 * KnowledgeNavigator: the question and paraphrases of it vote, hop by hop, on the relation to follow; the facts behind it are
 * joined into few lines, and the answer is read off them.
 *
 * Inputs: the question, its topic entities, the number of hops if the data set gives it. Calls: 1 for the paraphrases; for each
 * vote as many as there are voters, none where there is one relation to choose; 1 for the answer. Stop: `answered`, `dead-end`
 * (no relation leads on, or no vote could be read), `unparsed` (the last reply), `no-topic`, `budget`. Output: the model's names, mapped to entities of the facts
 * first; where candidates are scored by likelihood, everything that the walk leads to.
 *
 * Where the reference differs: it does not run as released; it votes for every entity by itself without a bound (`union: entity`);
 * after three replies that cannot be read it follows what the entity before chose (here such a vote counts for nothing); it asks for one
 * answer alone, and with worked examples out of the data set.
 * @source Guo et al. 2024, "KnowledgeNavigator: Leveraging large language models for enhanced reasoning over knowledge graph"
 */
import type { QuestionAnswer } from '../../question-agent.js';
import { fromFrontier } from '../frontier-steps.js';
import { chosenAnswer, writtenAnswer } from '../walk-choice.js';
import { walkingAgent } from '../walking-agent.js';
import { answerPrompts } from './prompts.js';
import { hopFurther, knowledgeNavigatorSettings, Retrieval, type WeighedWalk } from './retrieve.js';
import { votersOf } from './vote.js';

/** The agent `knowledge-navigator` with its switches. */
export const knowledgeNavigatorEntry = walkingAgent(
  'knowledge-navigator',
  knowledgeNavigatorSettings,
  (parts) => (task, session) => answerQuestion(new Retrieval(task, session, parts)),
);

/** @throws what the client throws, save `BudgetSpent` */
async function answerQuestion(attempt: Retrieval): Promise<QuestionAnswer> {
  const { settings, client } = attempt;
  const stop = await attempt.explored(() => retrieve(attempt));
  const weighed = attempt.open ? attempt.all : attempt.walks;
  const walks = weighed.map(({ walk }) => walk);
  const answered = fromFrontier(settings.answers, client)
    ? await chosenAnswer(attempt, walks, (walk) => Math.min(1, weighed[walks.indexOf(walk)]!.weight))
    : await writtenAnswer(attempt, walks, {
        ...{ prompts: answerPrompts, joinFacts: settings.aggregate },
        weights: weighed.map(({ weight }) => weight),
      });
  attempt.degraded ||= answered.degraded;
  return { ...answered, ...attempt.ended(stop === 'answered' ? answered.stop : stop) };
}

/** Walks as many hops as there are, and says what ended it. */
async function retrieve(attempt: Retrieval): Promise<string> {
  const { task, client, session, settings } = attempt;
  const hops = await attempt.hops();
  attempt.open = hops === undefined;
  const { voters, degraded } = await votersOf(task, client, settings);
  attempt.voters = voters;
  attempt.degraded = degraded;
  session.trace({ event: 'decision', phase: 'paraphrase', summary: voters.map(({ text }) => text).join('; ') });
  let standing: readonly WeighedWalk[] = [{ walk: attempt.start, weight: 1 }];
  for (let hop = 1; hop <= (hops ?? settings.maxHops); hop++) {
    standing = await hopFurther(standing, attempt);
    session.trace({ event: 'graph', operation: `hop ${hop}: ${standing.length} walks`, reads: attempt.graphReads });
    if (standing.length === 0) return 'dead-end';
  }
  return 'answered';
}
