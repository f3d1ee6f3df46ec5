/**
 * Plan-on-Graph: sub-objectives guide the exploration, a memory holds what is known of them, and where the facts do not suffice the
 * model says which of the entities left behind to come back to.
 *
 * Inputs: the question and its topic entities. Calls: 1 for the objectives; a depth and relation sequence 1 for relations and 1 a
 * relation for entities, none where there is one to choose; a depth 1 for the memory, 1 for the verdict, 1 for reflection; 1 for
 * the answer where no verdict was good. Stop: `suffices`, `hops` (as many as given or predicted), `half-stop` (no way on), `depth`,
 * `no-topic`, `budget`. Output: the verdict's names, mapped to what the chosen path leads to first; where candidates are scored by
 * likelihood, everything that the chosen path leads to.
 *
 * Where the reference differs: it asks for every entity by itself (`calls: entity`), drops questions whose verdict cannot be read,
 * fills the pool to come back to for long lists alone, merges homonyms, draws without a seed, keeps the memory in a file named by
 * the question, and asks whether and which to come back to in two calls.
 * @source Chen et al. 2024, "Plan-on-Graph: Self-correcting adaptive planning of large language model on knowledge graphs"
 */
import type { QuestionTask } from '../../../datasets/question.js';
import type { AnswerReply, NamedTriple } from '../../../src/llm/decision.js';
import type { QuestionAnswer, QuestionSession } from '../../question-agent.js';
import { alonePrompts } from '../direct-answer.js';
import {
  askAnswer,
  endsHolding,
  frontierOf,
  fromFrontier,
  pathText,
  saidAnswers,
  startWalk,
  type Walk,
  walkCandidate,
  walksFacts,
} from '../frontier-steps.js';
import { groundNames, unlessSpent } from '../facts.js';
import { walkingAgent, type WalkingParts } from '../walking-agent.js';
import { chosenAnswer } from '../walks-answer.js';
import { type Exploration, explored, type Standing } from './explore.js';
import { noteBlocks, renewedMemory, splitIntoObjectives } from './memory.js';
import * as prompts from './prompts.js';
import { openPool, reflect } from './reflect.js';
import { type PogSettings, pogSettings } from './settings.js';

/** The agent `pog` with its switches. */
export const pogEntry = walkingAgent(
  'pog',
  pogSettings,
  (parts) => (task, session) => answerQuestion(task, session, parts),
  { walksRemote: true },
);

type Parts = WalkingParts<PogSettings>;

/** State after the exploration, also when the budget ends early. */
interface Found {
  /** Walks of the last depth, best first. */
  walks: readonly Walk[];
  /** Walks of all depths, the deepest first. */
  all: readonly Walk[];
  /** A good verdict. */
  verdict?: { walk: Walk; answers: readonly string[] };
  /** Walks of every length may hold the answer. */
  open: boolean;
  degraded: boolean;
  graphReads: number;
  /** Product of the shares of what was chosen; undefined from the first choice that was written. */
  confidence: number | undefined;
}

/** @throws what the client throws, save `BudgetSpent` */
async function answerQuestion(task: QuestionTask, session: QuestionSession, parts: Parts): Promise<QuestionAnswer> {
  const start = startWalk(task);
  session.trace({ event: 'start', entities: start.topics });
  const found: Found = { walks: [], all: [], open: false, degraded: false, graphReads: 0, confidence: 1 };
  const stop =
    start.topics.length > 0
      ? ((await unlessSpent(explore(start, task, session, parts, found))) ?? 'budget')
      : 'no-topic';
  const answered = fromFrontier(parts.settings.answers, session.client)
    ? await chosenAnswer(task, session, parts.resources, endsToChoose(found), {
        facts: parts.settings.facts,
        sure: (_, judged) => (judged ? undefined : found.confidence),
      })
    : await written(task, session, parts, found, stop);
  session.trace({ event: 'stop', reason: stop });
  const { graphReads } = found;
  const degraded = answered.degraded || found.degraded;
  return { ...answered, ...(stop === 'suffices' && { verified: true }), degraded, stop, cost: { graphReads } };
}

/** Explores until something ends it, and says what. */
async function explore(
  start: Walk,
  task: QuestionTask,
  session: QuestionSession,
  { resources, settings, prefilter, hopsOf }: Parts,
  found: Found,
): Promise<string> {
  const { client, trace } = session;
  const { graph, seed } = resources;
  const hops = await hopsOf(task, session);
  const isJudged = hops === undefined && !client.byLikelihood;
  // With an unknown hop count and weak verdicts, the final choice is among paths of all lengths.
  found.open = hops === undefined && client.byLikelihood;
  const notes = { objectives: [] as readonly string[], memory: [] as readonly string[] };
  const exploration: Exploration = {
    ...{ graph, settings, prefilter, seed, task, session, notes, pool: openPool(), followed: new Set() },
    read: (edges) => (found.graphReads += edges),
    degrade: () => (found.degraded = true),
    chose(share) {
      found.confidence = found.confidence === undefined || share === undefined ? undefined : found.confidence * share;
    },
  };
  exploration.pool.add(start);
  if (settings.guidance === 'on' || (settings.guidance === 'auto' && !client.byLikelihood)) {
    const objectives = await splitIntoObjectives(task, client);
    if (!objectives) exploration.degrade();
    notes.objectives = objectives ?? [];
    trace({ event: 'decision', phase: 'objectives', summary: notes.objectives.join('; ') });
  }
  let standing: Standing[] = [{ walk: start, returned: false }];
  let reflections = 0;
  const most = hops ?? settings.depth;
  for (let depth = 1; depth <= most; depth++) {
    const grown = await explored(standing, exploration);
    trace({ event: 'graph', operation: `depth ${depth}: ${grown.length} paths`, reads: found.graphReads });
    if (grown.length === 0) return 'half-stop';
    // At the end all of them stand to choose from.
    const walks = depth === hops ? grown : grown.slice(0, settings.width);
    found.walks = walks;
    found.all = [...walks, ...found.all];
    standing = walks.map((walk) => ({ walk, returned: false }));
    if (!isJudged) continue;
    if (await suffices(walks, exploration, found)) return 'suffices';
    if (depth < most && settings.reflection && reflections < settings.reflections) {
      reflections++;
      standing = [...standing, ...(await comeBack(walks, exploration))];
    }
  }
  return hops === undefined ? 'depth' : 'hops';
}

/** Updates the memory and requests the verdict; a positive one without answers is ignored. */
async function suffices(walks: readonly Walk[], exploration: Exploration, found: Found): Promise<boolean> {
  const { graph, settings, task, session, notes } = exploration;
  const { client, trace } = session;
  const evidence = walksFacts(graph, task, walks, settings.facts);
  if (settings.memory) {
    const renewed = await renewedMemory(task, client, notes, evidence);
    if (!renewed) exploration.degrade();
    notes.memory = renewed ?? notes.memory;
  }
  const withAnswers = !fromFrontier(settings.answers, client);
  const candidates = walks.map((walk) => {
    const one = walkCandidate(graph, walk);
    return { ...one, text: `${pathText(graph, walk)} (${frontierOf(walk).entities.length})` };
  });
  const { reply, confidence } = await client.decide({
    ...{ kind: 'judge', phase: 'judge', questionId: task.id, question: task.question, withAnswers, evidence },
    task: withAnswers ? prompts.judgeTask : prompts.verdictTask,
    examples: withAnswers ? prompts.judgeExamples : prompts.verdictExamples,
    context: noteBlocks(notes),
    candidates,
    subjects: walks[0]!.topics,
  });
  exploration.chose(confidence);
  // Continue without a verdict.
  if (!reply) exploration.degrade();
  trace({ event: 'decision', phase: 'judge', summary: reply ? `${reply.choice}: ${reply.reason}` : 'unread' });
  const walk = reply && walks[reply.choice];
  if (!walk || (withAnswers && reply.answers.length === 0)) return false;
  found.verdict = { walk, answers: reply.answers };
  return true;
}

/** Walks to entities that are revisited. */
async function comeBack(walks: readonly Walk[], exploration: Exploration): Promise<Standing[]> {
  const { graph, settings, task, session, notes, pool } = exploration;
  const left = pool.leftBehind(graph, task, walks).slice(0, settings.listed);
  if (left.length === 0) return [];
  const chosen = await reflect(graph, task, session.client, { notes, walks, left });
  if (!chosen) exploration.degrade();
  const names = (chosen ?? []).map((entity) => graph.entityNames[entity]!);
  session.trace({ event: 'decision', phase: 'reflect', summary: names.join('; ') });
  return pool.comeBack(chosen ?? []).map((walk) => ({ walk, returned: true }));
}

/** Candidates for the answer: the end of the verdict's path, or of the one chosen last. */
function endsToChoose({ verdict, open, all, walks }: Found): readonly Walk[] {
  return verdict ? [verdict.walk] : open ? all : walks;
}

/** The answers of the verdict, or what the model says to the facts in the end. */
async function written(
  task: QuestionTask,
  { client }: QuestionSession,
  { resources: { dataset, graph, names }, settings }: Parts,
  found: Found,
  stop: string,
): Promise<Omit<QuestionAnswer, 'stop' | 'cost'>> {
  const { verdict } = found;
  const shown = verdict ? [verdict.walk] : found.all;
  const evidence: readonly NamedTriple[] = walksFacts(graph, task, shown, settings.facts);
  const reply = verdict ?? (await askedInTheEnd());
  const said = reply?.answers ?? [];
  const met = new Set(shown.flatMap(({ frontiers }) => frontiers.flatMap(({ entities }) => [...entities])));
  const ends = endsHolding(shown, groundNames(said, names, met).entities);
  return {
    ...saidAnswers(task, said, { names, met, ends }),
    ...(verdict && { chain: verdict.walk.relations }),
    evidence,
    degraded: reply === undefined,
  };

  function askedInTheEnd(): Promise<AnswerReply | undefined> {
    const alone = evidence.length === 0 || (stop === 'depth' && settings.finalPolicy === 'alone');
    const asked = alone ? alonePrompts(dataset) : prompts.answerPrompts;
    return askAnswer(task, client, alone ? [] : evidence, asked, alone);
  }
}
