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
import type { QuestionTask } from '../../../datasets/question.js';
import type { QuestionAnswer, QuestionSession } from '../../question-agent.js';
import { unlessSpent } from '../facts.js';
import { fromFrontier, startWalk, type Walk } from '../frontier-steps.js';
import { walkingAgent, type WalkingParts } from '../walking-agent.js';
import { chosenAnswer, writtenAnswer } from '../walks-answer.js';
import { answerPrompts } from './prompts.js';
import { hopFurther, type Retrieval, type WeighedWalk } from './retrieve.js';
import { knowledgeNavigatorSettings, type KnowledgeNavigatorSettings } from './settings.js';
import { votersOf } from './vote.js';

/** The agent `knowledge-navigator` with its switches. */
export const knowledgeNavigatorEntry = walkingAgent(
  'knowledge-navigator',
  knowledgeNavigatorSettings,
  (parts) => (task, session) => answerQuestion(task, session, parts),
);

type Parts = WalkingParts<KnowledgeNavigatorSettings>;

/** State after the hops, also when the budget ends early. */
interface Found {
  /** The longest walks, most votes first. */
  walks: readonly WeighedWalk[];
  /** Those of every length, the longest first. */
  all: readonly WeighedWalk[];
  /** Walks of every length may hold the answer. */
  open: boolean;
  degraded: boolean;
  graphReads: number;
}

/** @throws what the client throws, save `BudgetSpent` */
async function answerQuestion(task: QuestionTask, session: QuestionSession, parts: Parts): Promise<QuestionAnswer> {
  const start = startWalk(task);
  session.trace({ event: 'start', entities: start.topics });
  const found: Found = { walks: [], all: [], open: false, degraded: false, graphReads: 0 };
  const ended =
    start.topics.length > 0
      ? ((await unlessSpent(retrieve(start, task, session, parts, found))) ?? 'budget')
      : 'no-topic';
  const weighed = found.open ? found.all : found.walks;
  const walks = weighed.map(({ walk }) => walk);
  const { facts, aggregate } = parts.settings;
  const answered = fromFrontier(parts.settings.answers, session.client)
    ? await chosenAnswer(task, session, parts.resources, walks, {
        facts,
        sure: (walk) => Math.min(1, weighed[walks.indexOf(walk)]!.weight),
      })
    : await writtenAnswer(task, session, parts.resources, walks, {
        ...{ prompts: answerPrompts, facts, joinFacts: aggregate },
        weights: weighed.map(({ weight }) => weight),
      });
  const stop = ended === 'answered' ? answered.stop : ended;
  session.trace({ event: 'stop', reason: stop });
  const { graphReads } = found;
  return { ...answered, degraded: answered.degraded || found.degraded, stop, cost: { graphReads } };
}

/** Walks as many hops as there are, and says what ended it. */
async function retrieve(
  start: Walk,
  task: QuestionTask,
  session: QuestionSession,
  { resources: { graph }, settings, prefilter, hopsOf }: Parts,
  found: Found,
): Promise<string> {
  const { client, trace } = session;
  const hops = await hopsOf(task, session);
  found.open = hops === undefined;
  const { voters, degraded } = await votersOf(task, client, settings);
  found.degraded = degraded;
  trace({ event: 'decision', phase: 'paraphrase', summary: voters.map(({ text }) => text).join('; ') });
  const retrieval: Retrieval = {
    ...{ graph, settings, prefilter, task, session, voters, seen: new Set() },
    read: (edges) => (found.graphReads += edges),
    degrade: () => (found.degraded = true),
  };
  const keep = (walks: readonly WeighedWalk[]) => {
    if (walks.length === 0) return;
    found.walks = walks;
    found.all = [...walks, ...found.all];
  };
  let standing: readonly WeighedWalk[] = [{ walk: start, weight: 1 }];
  for (let hop = 1; hop <= (hops ?? settings.maxHops); hop++) {
    standing = await hopFurther(standing, retrieval, keep);
    trace({ event: 'graph', operation: `hop ${hop}: ${standing.length} walks`, reads: found.graphReads });
    if (standing.length === 0) return 'dead-end';
    keep(standing);
  }
  return 'answered';
}
