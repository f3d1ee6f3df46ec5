/**
 * KG-GPT: the question is split into parts of one relation each, relations are chosen for every part, and the answer is read off
 * everything that walks along them show.
 *
 * Inputs: the question, its topic entities, the number of hops if the data set gives it. Calls: 1 for the parts, at most 1 a
 * part (none where there is one relation to choose), 1 for the answer. Stop: `answered`, `dead-end` (a part has no relation that
 * leads on), `unparsed` (the last reply), `no-topic`, `budget`. Output: the model's names, mapped to entities of the evidence first; where candidates are
 * scored by likelihood, the model chooses one of the walks and everything that it leads to is the answer.
 *
 * Where the reference differs: it reads the first bracketed list of a reply and gives up after five (here a reply is read in full,
 * and a part without a readable one has no relations); takes any bracket of the question for the topic; keeps one second-hop tail a
 * node (`evidence: reference`); counts a reply that contains an answer.
 * @source Kim et al. 2023, "KG-GPT: A general framework for reasoning on knowledge graphs using large language models"
 */
import { z } from 'zod';
import { choice, whole } from '../../registry.js';
import type { QuestionTask } from '../../../datasets/question.js';
import type { ContextBlock, DecisionClient } from '../../../src/llm/decision.js';
import type { QuestionAnswer, QuestionSession } from '../../question-agent.js';
import { unlessSpent } from '../facts.js';
import {
  answersSwitch,
  fromFrontier,
  frontierDegree,
  frontierOf,
  pathBlock,
  startWalk,
  type Walk,
} from '../frontier-steps.js';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings, shareOf } from '../prefilter/prefilter.js';
import { chooseSome } from '../walk-choice.js';
import { walkingAgent, type WalkingParts } from '../walking-agent.js';
import { chosenAnswer, writtenAnswer } from '../walks-answer.js';
import { grownWalks } from './evidence.js';
import {
  anyStep,
  offeredCandidates,
  type OfferedRelation,
  offeredRelations,
  segmentsOf,
  setOf,
  thinned,
} from './segments.js';
import * as prompts from './prompts.js';

/** The switches of `kg-gpt`, with their defaults. */
const kgGptSettings = z.strictObject({
  relations: whole(1, 20, 3).describe('Relations chosen for a part of the question, at most (K).'),
  split: choice(['auto', 'model', 'question'], 'auto').describe(
    'What each hop is asked with: a part of the question as the model splits it, or the question itself; auto is the latter where candidates are scored by likelihood.',
  ),
  hops: hopsSwitch,
  maxHops: whole(1, 8, 3).describe('Maximum parts, and so the longest walk, if the hop count is unknown.'),
  direction: choice(['dropped', 'kept'], 'dropped').describe(
    'Whether relations are offered by their bare names, either way (as in the paper), or each way for itself.',
  ),
  offered: choice(['hop', 'reached'], 'hop').describe(
    'What a later part may choose among: relations at that many steps from the topic (as in the paper), or those that lead on from what the parts before it reached.',
  ),
  evidence: choice(['all', 'reference'], 'all').describe(
    'Which facts the walks give: all, or from the second hop on one tail a node, as in the reference.',
  ),
  facts: whole(1, 1000, 60).describe('Facts in the answer prompt, one way to each entity reached.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

type KgGptSettings = z.output<typeof kgGptSettings>;

/** The agent `kg-gpt` with its switches. */
export const kgGptEntry = walkingAgent(
  'kg-gpt',
  kgGptSettings,
  (parts) => (task, session) => answerQuestion(task, session, parts),
);

type Parts = WalkingParts<KgGptSettings>;

/** State after the hops, also when the budget ends early. */
interface Found {
  /** The longest walks, best first; the start alone before the first hop. */
  walks: readonly Walk[];
  /** Those of every length from one hop on. */
  all: Walk[];
  /** Walks of every length may hold the answer. */
  open: boolean;
  degraded: boolean;
  graphReads: number;
  /** Product of the shares of what was chosen; undefined from the first choice that was written. */
  confidence: number | undefined;
}

/** @throws what the client throws, save `BudgetSpent` */
async function answerQuestion(task: QuestionTask, session: QuestionSession, parts: Parts): Promise<QuestionAnswer> {
  const { client, trace } = session;
  const start = startWalk(task);
  trace({ event: 'start', entities: start.topics });

  const found: Found = {
    ...{ walks: [start], all: [], open: false, degraded: false, graphReads: 0, confidence: 1 },
  };
  const ended =
    start.topics.length > 0 ? ((await unlessSpent(walkParts(task, session, parts, found))) ?? 'budget') : 'no-topic';
  trace({ event: 'graph', operation: `${found.walks.length} walks`, reads: found.graphReads });
  const walks = found.open ? found.all.toReversed() : found.walks.filter(({ relations }) => relations.length > 0);
  const answered = fromFrontier(parts.settings.answers, client)
    ? await chosenAnswer(task, session, parts.resources, walks, {
        facts: parts.settings.facts,
        sure: (_, judged) => (judged ? undefined : found.confidence),
      })
    : await writtenAnswer(task, session, parts.resources, walks, {
        prompts: prompts.answerPrompts,
        facts: parts.settings.facts,
      });
  const stop = ended === 'answered' ? answered.stop : ended;
  trace({ event: 'stop', reason: stop });
  return {
    ...answered,
    degraded: answered.degraded || found.degraded,
    stop,
    cost: { graphReads: found.graphReads },
  };
}

/** Splits the question and walks along the relations that its parts choose; says what ended it. */
async function walkParts(task: QuestionTask, session: QuestionSession, parts: Parts, found: Found): Promise<string> {
  const { resources, settings, prefilter, hopsOf } = parts;
  const { graph } = resources;
  const { client, trace, signal } = session;
  const hops = await hopsOf(task, session);
  const asks = settings.split === 'model' || (settings.split === 'auto' && !client.byLikelihood);
  const texts = asks ? await splitQuestion(task, hops ?? settings.maxHops, client) : undefined;
  const segments = segmentsOf(task, texts, { hops, maxHops: settings.maxHops });
  found.open = segments.open;
  // A question that was to be split and was not is answered all the same, but with less to go by.
  if (asks && !segments.split) found.degraded = true;
  trace({ event: 'decision', phase: 'split', summary: segments.split ? segments.parts.join('; ') : 'not split' });

  const { excluded } = found.walks[0]!;
  let level = frontierOf(found.walks[0]!);
  for (const [hop, part] of segments.parts.entries()) {
    const from =
      settings.offered === 'hop' ? level : setOf(found.walks.flatMap((walk) => [...frontierOf(walk).entities]));
    found.graphReads += frontierDegree(graph, from);
    const offered = offeredRelations(graph, from, excluded, settings.direction);
    const best = found.walks[0]!;
    const kept = await thinned(prefilter, task, best.relations, offered, signal);
    const context = [...(segments.split ? [{ label: 'Part', lines: [part] }] : []), pathBlock(graph, best)];
    const { chosen, confidence } =
      kept.length < 2
        ? { chosen: kept, confidence: await shareOf(prefilter, task, best.relations, ids(offered), ids(kept), signal) }
        : await chooseRelations(task, client, settings, kept, { context, subjects: [...from.entities] });
    if (!chosen) found.degraded = true;
    found.confidence =
      found.confidence === undefined || confidence === undefined ? undefined : found.confidence * confidence;
    trace({
      ...{ event: 'decision', phase: 'relations' },
      summary: `hop ${hop + 1}: ${(chosen ?? []).map(({ text }) => text).join('; ')}`,
    });
    const grown = grownWalks(graph, found.walks, chosen ?? [], settings.evidence);
    if (grown.length === 0) return 'dead-end';
    found.walks = grown;
    found.all.push(...grown.toReversed());
    if (hop < segments.parts.length - 1) level = anyStep(graph, level, excluded);
  }
  return 'answered';
}

/** Walks in all directions of the relations. */
const ids = (offered: readonly OfferedRelation[]) => offered.flatMap(({ ways }) => [...ways]);

/** Undefined where the reply cannot be read. */
async function splitQuestion(
  task: QuestionTask,
  count: number,
  client: DecisionClient,
): Promise<readonly string[] | undefined> {
  const { reply } = await client.decide({
    ...{ kind: 'rewrite', about: 'sub-question', phase: 'split', evidence: [] },
    ...{ questionId: task.id, question: task.question },
    task: prompts.splitTask,
    examples: prompts.splitExamples,
    count,
  });
  return reply?.texts;
}

/** Best first; empty for an unreadable reply: choices of earlier parts are not reused. */
async function chooseRelations(
  task: QuestionTask,
  client: DecisionClient,
  { relations, direction }: KgGptSettings,
  offered: readonly OfferedRelation[],
  shown: { context: readonly ContextBlock[]; subjects: readonly number[] },
): Promise<{ chosen?: OfferedRelation[] | undefined; confidence?: number | undefined }> {
  const { choices, confidence } = await chooseSome(client, {
    ...{ kind: 'choose-many', phase: 'relations', evidence: [], maxChoices: relations, ...shown },
    ...{ questionId: task.id, question: task.question },
    task: direction === 'dropped' ? prompts.relationTask : prompts.directedRelationTask,
    examples: prompts.relationExamples,
    candidates: offeredCandidates(offered),
  });
  return { chosen: choices?.map((choice) => offered[choice]!), confidence };
}
