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
import type { QuestionAnswer } from '../../question-agent.js';
import { answersSwitch, fromFrontier, frontierDegree, frontierOf, pathBlock, type Walk } from '../frontier-steps.js';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings, shareOf } from '../prefilter/prefilter.js';
import { chooseSome, chosenAnswer, writtenAnswer } from '../walk-choice.js';
import { Attempt, walkingAgent, type WalkingParts } from '../walking-agent.js';
import {
  anyStep,
  grownWalks,
  offeredCandidates,
  type OfferedRelation,
  offeredRelations,
  segmentsOf,
  setOf,
  thinned,
} from './segments.js';
import * as prompts from './prompts.js';

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

/** The agent `kg-gpt` with its switches. */
export const kgGptEntry = walkingAgent(
  'kg-gpt',
  kgGptSettings,
  (parts) => (task, session) => answerQuestion(new KgGptAttempt(task, session, parts)),
);

class KgGptAttempt extends Attempt<WalkingParts<z.output<typeof kgGptSettings>>> {
  /** The longest walks, best first; the start alone before the first hop. */
  walks: readonly Walk[] = [this.start];
  /** Those of every length from one hop on. */
  all: Walk[] = [];
  /** Walks of every length may hold the answer. */
  open = false;
}

/** @throws what the client throws, save `BudgetSpent` */
async function answerQuestion(attempt: KgGptAttempt): Promise<QuestionAnswer> {
  const { client, session, settings } = attempt;
  const stop = await attempt.explored(() => walkParts(attempt));
  session.trace({ event: 'graph', operation: `${attempt.walks.length} walks`, reads: attempt.graphReads });
  const { open, all } = attempt;
  const walks = open ? all.toReversed() : attempt.walks.filter(({ relations }) => relations.length > 0);
  const answered = fromFrontier(settings.answers, client)
    ? await chosenAnswer(attempt, walks, (_, judged) => (judged ? undefined : attempt.confidence))
    : await writtenAnswer(attempt, walks, { prompts: prompts.answerPrompts });
  attempt.degraded ||= answered.degraded;
  return { ...answered, ...attempt.ended(stop === 'answered' ? answered.stop : stop) };
}

/** Splits the question and walks along the relations that its parts choose; says what ended it. */
async function walkParts(attempt: KgGptAttempt): Promise<string> {
  const { task, graph, settings, client, session, start } = attempt;
  const { prefilter } = attempt.parts;
  const { trace, signal } = session;
  const hops = await attempt.hops();
  const asks = settings.split === 'model' || (settings.split === 'auto' && !client.byLikelihood);
  const texts = asks ? await splitQuestion(attempt, hops ?? settings.maxHops) : undefined;
  const segments = segmentsOf(task, texts, { hops, maxHops: settings.maxHops });
  attempt.open = segments.open;
  // A question that was to be split and was not is answered all the same, but with less to go by.
  if (asks && !segments.split) attempt.degraded = true;
  trace({ event: 'decision', phase: 'split', summary: segments.split ? segments.parts.join('; ') : 'not split' });

  const { excluded } = start;
  let level = frontierOf(start);
  for (const [hop, part] of segments.parts.entries()) {
    const from =
      settings.offered === 'hop' ? level : setOf(attempt.walks.flatMap((walk) => [...frontierOf(walk).entities]));
    attempt.graphReads += frontierDegree(graph, from);
    const offered = offeredRelations(graph, from, excluded, settings.direction);
    const best = attempt.walks[0]!;
    const kept = await thinned(prefilter, task, best.relations, offered, signal);
    let chosen: readonly OfferedRelation[] | undefined = kept;
    if (kept.length < 2) {
      attempt.chose(await shareOf(prefilter, task, best.relations, ids(offered), ids(kept), signal));
    } else {
      const context = [...(segments.split ? [{ label: 'Part', lines: [part] }] : []), pathBlock(graph, best)];
      const { choices, confidence } = await chooseSome(client, {
        ...{ kind: 'choose-many', phase: 'relations', evidence: [], maxChoices: settings.relations },
        ...{ context, subjects: [...from.entities], questionId: task.id, question: task.question },
        task: settings.direction === 'dropped' ? prompts.relationTask : prompts.directedRelationTask,
        examples: prompts.relationExamples,
        candidates: offeredCandidates(kept),
      });
      attempt.chose(confidence);
      chosen = choices?.map((choice) => kept[choice]!);
    }
    if (!chosen) attempt.degraded = true;
    const summary = `hop ${hop + 1}: ${(chosen ?? []).map(({ text }) => text).join('; ')}`;
    trace({ event: 'decision', phase: 'relations', summary });
    // Choices of earlier parts are not reused for a reply that cannot be read.
    const grown = grownWalks(graph, attempt.walks, chosen ?? [], settings.evidence);
    if (grown.length === 0) return 'dead-end';
    attempt.walks = grown;
    attempt.all.push(...grown.toReversed());
    if (hop < segments.parts.length - 1) level = anyStep(graph, level, excluded);
  }
  return 'answered';
}

/** Relations in all their directions. */
const ids = (offered: readonly OfferedRelation[]) => offered.flatMap(({ ways }) => [...ways]);

/** Undefined where the reply cannot be read. */
async function splitQuestion({ task, client }: KgGptAttempt, count: number): Promise<readonly string[] | undefined> {
  const { splitTask, splitExamples: examples } = prompts;
  const { reply } = await client.decide({
    ...{ kind: 'rewrite', about: 'sub-question', phase: 'split', evidence: [] },
    ...{ questionId: task.id, question: task.question, task: splitTask, examples, count },
  });
  return reply?.texts;
}
