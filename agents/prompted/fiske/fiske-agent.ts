/**
 * FiSKE: stateful exploration. The question is broken into clues, entities and relations alike; those that name entities
 * start branches, and a branch grows only over relations and to entities that clues speak for, until it covers them all.
 *
 * Inputs: the question, no topic entity; by likelihood the number of hops as `hops` says; the graph with its names. Calls: 1 for the clues; for every set of heads
 * with the same uncovered clues ⌈relations/20⌉ and at most ⌈80/20⌉ for entities; 1 for the answer. Stop: `covered`,
 * `hops` (the given length, with clues left open), `dead-end`, `no-start`, `budget`. Output: where the branches that cover every clue end, with the facts on the way, and
 * the model's reply; without full coverage the model's answer alone.
 *
 * Where the reference differs: it takes the first of several homonyms and one start after the other, asks for every head
 * by itself, matches names as parts of lines, forgets which way an edge points, and does not count the direct answer.
 * @source "Stateful knowledge exploration" (FiSKE), sections 3.2 to 3.4; nnnoidea/stateful-KGQA
 */
import type { QuestionTask } from '../../../datasets/question.js';
import { askedQuestion } from '../../../datasets/questions/asked-question.js';
import { BudgetSpent } from '../../../src/llm/decision.js';
import type { QuestionAgent, QuestionAgentEntry, QuestionAnswer } from '../../question-agent.js';
import { alonePrompts } from '../direct-answer.js';
import { distinctFacts, factOf, unlessSpent } from '../facts.js';
import { type AnswerPrompts, fromFrontier, promptsFor, saidAnswers } from '../frontier-steps.js';
import { hopSourceFor, openHops } from '../hops/hops.js';
import { openPrefilter } from '../prefilter/prefilter.js';
import { Attempt } from '../walking-agent.js';
import { type Branch, type FiskeAttempt, mergePartial, pathTo, walksTo } from './branch.js';
import {
  clueCount,
  type Clues,
  cluesOf,
  findStartNodes,
  heuristicClues,
  properNames,
  rewrittenQuestion,
  wordIndex,
} from './clues.js';
import { explore, type Explored } from './explore.js';
import * as prompts from './prompts.js';
import { fiskeSettings, type FiskeSettings } from './branch.js';

/** The agent `fiske` with its switches. */
export const fiskeEntry: QuestionAgentEntry<typeof fiskeSettings> = {
  settings: fiskeSettings,
  needs: ['model', 'encoder', 'train'],
  walksRemote: true,
  async create(resources, settings): Promise<QuestionAgent> {
    const words = wordIndex(resources.graph);
    const prefilter = await openPrefilter(resources, settings);
    const hopsOf = await openHops(resources, settings.hops);
    return {
      name: 'fiske',
      note: 'finds its start nodes itself',
      topicGiven: false,
      hopSource: (byLikelihood) => toldBy(settings, byLikelihood),
      hopAccuracy: hopsOf.accuracy,
      prompted: true,
      answer: (task, session) => answer(new Attempt(task, session, { resources, settings, words, prefilter, hopsOf })),
    };
  },
};

/** Source of the hops: used with whole sets only, else coverage decides. */
function toldBy({ hops, answers }: FiskeSettings, byLikelihood: boolean): ReturnType<typeof hopSourceFor> {
  return fromFrontier(answers, { byLikelihood }) ? hopSourceFor(hops, byLikelihood) : 'none';
}

async function answer(attempt: FiskeAttempt): Promise<QuestionAnswer> {
  const { task, session, settings, graph, parts } = attempt;
  const { dataset, names } = parts.resources;
  const extracted = await extractClues(attempt);
  attempt.degraded = !extracted.read;
  const { clues, naming } = extracted;
  const fromEnds = fromFrontier(settings.answers, session.client);
  const { starts, namedBy, cut } = findStartNodes(clues, names, parts.words, settings, naming);
  if (cut > 0) session.trace({ event: 'note', text: `${cut} homonyms left out` });
  session.trace({ event: 'start', entities: starts.map(({ entity }) => entity) });

  const explored: Explored =
    extracted.spent || starts.length === 0
      ? { complete: [], partial: [], stop: extracted.spent ? 'budget' : 'no-start' }
      : await explore(
          starts,
          Object.assign(attempt, {
            ...{ clues, namedBy, wholeSets: fromEnds },
            ranked: settings.prefilter === 'none' ? task : topicsFound(attempt),
            hopsWanted: fromEnds ? await attempt.hops() : undefined,
            mayEnd: (entity: number) => task.topicsReturn === true || !namedBy.has(entity),
          }),
        );
  session.trace({ event: 'graph', operation: 'exploration', reads: attempt.graphReads });
  const { stop } = explored;
  const complete = explored.complete.length > 0;
  const verified = stop === 'covered';
  const ends = complete || !fromEnds ? furthest(explored.complete, fromEnds) : furthest(explored.partial);
  const triples = ends.length > 0 ? ends.flatMap(pathTo) : mergePartial(explored.partial);
  const evidence = distinctFacts(triples.map((triple) => factOf(graph, triple))).slice(0, settings.maxTriples);
  const fromFacts = complete || ends.length > 0 || (!settings.gateAnswer && evidence.length > 0);
  if (fromEnds && ends.length > 0 && task.form === 'entities') {
    return { entities: groundedAnswers(ends), literals: [], evidence, verified, ...attempt.ended(stop) };
  }
  const { id: questionId, question, form } = task;
  const asked = promptsFor(form, fromFacts ? prompts.answerPrompts : aloneAsked(dataset));
  const decided = await unlessSpent(
    session.client.decide({
      ...{ kind: 'answer', questionId, question, form, final: true, ...asked },
      phase: fromFacts ? 'answer' : 'direct-answer',
      evidence: fromFacts ? evidence : [],
      withReasoning: !fromFacts,
    }),
  );
  const said = decided?.reply?.answers;
  attempt.degraded ||= said === undefined;

  // Findings of the graph come before answers of the model.
  const grounded = task.form === 'truth' ? [] : groundedAnswers(explored.complete);
  const met = new Set(triples.flatMap(([head, , tail]) => [head, tail]));
  return {
    ...saidAnswers(task, said ?? [], { names, met }),
    ...(grounded.length > 0 && { entities: grounded, literals: [] }),
    evidence: fromFacts ? evidence : [],
    verified,
    ...attempt.ended(stop),
  };
}

/** The question without facts, answered step by step. @param dataset what the worked examples are chosen by */
const aloneAsked = (dataset: string): AnswerPrompts => {
  const { examples, truthExamples } = alonePrompts(dataset);
  return { ...prompts.aloneTasks, examples: examples.slice(0, 2), truthExamples };
};

interface Extracted {
  clues: Clues;
  /** Texts of clues that may name an entity; absent: all. */
  naming?: readonly string[];
  /** True when the model's reply was readable; otherwise names and words of the question are used. */
  read: boolean;
  /** The budget has nothing left for exploring. */
  spent: boolean;
}

async function extractClues(attempt: FiskeAttempt): Promise<Extracted> {
  const { task, client, session, settings, parts } = attempt;
  const { trace } = session;
  const { names } = parts.resources;
  const question = rewrittenQuestion(task.question);
  const known = settings.clues === 'names' || (settings.clues === 'auto' && client.byLikelihood);
  const fallback = () => cluesOf(heuristicClues(task.question, names), settings.maxClues);
  if (known) {
    const clues = fallback();
    trace({ event: 'decision', phase: 'clues', summary: clues.texts.join('; ') });
    const named = clues.texts.filter((text) => names.lookup(text).length > 0);
    // A statement names what it claims, which may be written small.
    const naming = task.form === 'truth' ? named : properNames(named);
    return { clues, naming, read: true, spent: false };
  }
  try {
    const { reply } = await client.decide({
      ...{ ...attempt.about('extract', 'clues'), question, maxItems: settings.maxClues },
      ...{ task: prompts.clueTask, examples: prompts.clueExamples },
    });
    const said = cluesOf(reply?.items ?? [], settings.maxClues);
    const read = said.texts.length > 0;
    const clues = read ? said : fallback();
    trace({ event: 'decision', phase: 'clues', summary: clues.texts.join('; ') });
    return { clues, read, spent: false };
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    return { clues: fallback(), read: true, spent: true };
  }
}

/** The question with the longest name of the graph in it as its topic, so that it can be masked: none is given. */
function topicsFound({ task, graph, parts }: FiskeAttempt): QuestionTask {
  const { names } = parts.resources;
  const { topics } = askedQuestion(task.question, graph, { names, needsTopic: false }).task;
  return { ...task, topics };
}

/** Among branches that ended early, those with most clues covered. @param partial most covered clues first */
function furthest(partial: readonly Branch[], only = true): readonly Branch[] {
  if (!only) return partial;
  const most = partial[0] ? clueCount(partial[0].covered) : 0;
  return partial.filter(({ covered, depth }) => depth > 0 && clueCount(covered) === most);
}

/**
 * Where complete branches end, most paths first, then the smaller id. Where a branch ends at something that the question
 * itself names, what it asks for is one step before.
 */
function groundedAnswers(complete: readonly Branch[]): number[] {
  const walks = new Map<number, number>();
  const add = (entity: number, ways: number) => walks.set(entity, (walks.get(entity) ?? 0) + ways);
  for (const branch of complete) {
    if (!branch.named) add(branch.head, walksTo(branch));
    else for (const { from, walks: ways } of branch.arrivals) if (!from.named) add(from.head, ways);
  }
  return [...walks].sort(([a, left], [b, right]) => right - left || a - b).map(([entity]) => entity);
}
