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
import type { QuestionAnswer } from '../../question-agent.js';
import { alonePrompts } from '../direct-answer.js';
import { askAnswer, fromFrontier, type Walk, walkCandidate, walksFacts } from '../frontier-steps.js';
import { chosenAnswer, readAnswers } from '../walk-choice.js';
import { walkingAgent } from '../walking-agent.js';
import { explored, type Standing } from './explore.js';
import { noteBlocks, PogAttempt, reflect, renewedMemory, sizedPath, splitIntoObjectives } from './notes.js';
import * as prompts from './prompts.js';
import { pogSettings } from './notes.js';

/** The agent `pog` with its switches. */
export const pogEntry = walkingAgent(
  'pog',
  pogSettings,
  (parts) => (task, session) => answerQuestion(new PogAttempt(task, session, parts)),
  { walksRemote: true },
);

/** @throws what the client throws, save `BudgetSpent` */
async function answerQuestion(attempt: PogAttempt): Promise<QuestionAnswer> {
  const { settings, client } = attempt;
  const stop = await attempt.explored(() => explore(attempt));
  const { verdict, open, all, walks } = attempt;
  // The candidates are the end of the verdict's path, or of the one chosen last.
  const ends = verdict ? [verdict.walk] : open ? all : walks;
  const answered = fromFrontier(settings.answers, client)
    ? await chosenAnswer(attempt, ends, (_, judged) => (judged ? undefined : attempt.confidence))
    : await written(attempt, stop);
  attempt.degraded ||= answered.degraded;
  return { ...answered, verified: stop === 'suffices' || undefined, ...attempt.ended(stop) };
}

/** Explores until something ends it, and says what. */
async function explore(attempt: PogAttempt): Promise<string> {
  const { client, settings, session, pool, notes, start } = attempt;
  const hops = await attempt.hops();
  const isJudged = hops === undefined && !client.byLikelihood;
  // With an unknown hop count and weak verdicts, the final choice is among paths of all lengths.
  attempt.open = hops === undefined && client.byLikelihood;
  pool.add(start);
  if (settings.guidance === 'on' || (settings.guidance === 'auto' && !client.byLikelihood)) {
    const objectives = await splitIntoObjectives(attempt);
    notes.objectives = objectives ?? [];
    session.trace({ event: 'decision', phase: 'objectives', summary: notes.objectives.join('; ') });
  }
  let standing: Standing[] = [{ walk: start, returned: false }];
  let reflections = 0;
  const most = hops ?? settings.depth;
  for (let depth = 1; depth <= most; depth++) {
    const grown = await explored(standing, attempt);
    session.trace({ event: 'graph', operation: `depth ${depth}: ${grown.length} paths`, reads: attempt.graphReads });
    if (grown.length === 0) return 'half-stop';
    // At the end all of them stand to choose from.
    const walks = depth === hops ? grown : grown.slice(0, settings.width);
    attempt.walks = walks;
    attempt.all = [...walks, ...attempt.all];
    standing = walks.map((walk) => ({ walk, returned: false }));
    if (!isJudged) continue;
    if (await suffices(walks, attempt)) return 'suffices';
    if (depth < most && settings.reflection && reflections < settings.reflections) {
      reflections++;
      standing = [...standing, ...(await comeBack(walks, attempt))];
    }
  }
  return hops === undefined ? 'depth' : 'hops';
}

/** Updates the memory and requests the verdict; a positive one without answers is ignored. */
async function suffices(walks: readonly Walk[], attempt: PogAttempt): Promise<boolean> {
  const { graph, settings, task, session, notes, client } = attempt;
  const evidence = walksFacts(graph, task, walks, settings.facts);
  if (settings.memory) notes.memory = (await renewedMemory(attempt, evidence)) ?? notes.memory;
  const withAnswers = !fromFrontier(settings.answers, client);
  const candidates = walks.map((walk) => ({ ...walkCandidate(graph, walk), text: sizedPath(graph, walk) }));
  const { reply, confidence } = await client.decide({
    ...{ kind: 'judge', phase: 'judge', questionId: task.id, question: task.question, withAnswers, evidence },
    task: withAnswers ? prompts.judgeTask : prompts.verdictTask,
    examples: withAnswers ? prompts.judgeExamples : prompts.verdictExamples,
    ...{ context: noteBlocks(notes), candidates, subjects: walks[0]!.topics },
  });
  attempt.chose(confidence);
  // Continue without a verdict.
  if (!reply) attempt.degraded = true;
  session.trace({ event: 'decision', phase: 'judge', summary: reply ? `${reply.choice}: ${reply.reason}` : 'unread' });
  const walk = reply && walks[reply.choice];
  if (!walk || (withAnswers && reply.answers.length === 0)) return false;
  attempt.verdict = { walk, answers: reply.answers };
  return true;
}

/** Walks to entities that are revisited. */
async function comeBack(walks: readonly Walk[], attempt: PogAttempt): Promise<Standing[]> {
  const { graph, settings, task, session, pool } = attempt;
  const left = pool.leftBehind(graph, task, walks).slice(0, settings.listed);
  if (left.length === 0) return [];
  const chosen = await reflect(attempt, walks, left);
  const names = chosen.map((entity) => graph.entityNames[entity]!);
  session.trace({ event: 'decision', phase: 'reflect', summary: names.join('; ') });
  return pool.comeBack(chosen).map((walk) => ({ walk, returned: true }));
}

/** The answers of the verdict, or what the model says to the facts in the end. */
async function written(attempt: PogAttempt, stop: string): Promise<Omit<QuestionAnswer, 'stop' | 'cost'>> {
  const { verdict, all, task, client, settings } = attempt;
  const { dataset, graph, names } = attempt.parts.resources;
  const shown = verdict ? [verdict.walk] : all;
  const evidence = walksFacts(graph, task, shown, settings.facts);
  const alone = evidence.length === 0 || (stop === 'depth' && settings.finalPolicy === 'alone');
  const asked = alone ? alonePrompts(dataset) : prompts.answerPrompts;
  const ask = () => askAnswer(task, client, alone ? [] : evidence, asked, { withReasoning: alone });
  const reply = verdict ?? (await ask());
  return {
    ...readAnswers(task, reply?.answers ?? [], names, shown),
    chain: verdict?.walk.relations,
    evidence,
    degraded: reply === undefined,
  };
}
