/** State of an exploration: sub-objectives and known facts, in words, and entities that may be revisited. */
import type { QuestionTask } from '../../../datasets/question.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { ContextBlock, NamedTriple, RewriteDecision } from '../../../src/llm/decision.js';
import {
  answersSwitch,
  frontierOf,
  namedInQuestion,
  narrowed,
  pathText,
  putTogether,
  type Walk,
} from '../frontier-steps.js';
import { Attempt, type WalkingParts } from '../walking-agent.js';
import * as prompts from './prompts.js';
import { z } from 'zod';
import { choice, flag, whole } from '../../registry.js';
import { hopsOrEndSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

export const pogSettings = z.strictObject({
  guidance: choice(['auto', 'on', 'off'], 'auto').describe(
    'Whether the question is split into sub-objectives first, which guide every choice; auto is on, but off where candidates are scored by likelihood.',
  ),
  memory: flag(true).describe('What is known is kept in words, renewed at every depth, where a verdict reads it.'),
  reflection: flag(true).describe(
    'After facts that do not suffice, entities that were left behind may be come back to.',
  ),
  reflections: whole(0, 20, 5).describe('How often a question may be reflected on.'),
  depth: whole(1, 8, 4).describe('Longest path explored.'),
  relations: whole(1, 20, 3).describe('Relations chosen at a time, at most.'),
  width: whole(1, 100, 8).describe('Maximum relation sequences kept after a depth.'),
  calls: choice(['frontier', 'entity'], 'frontier').describe(
    'What one call decides for: all entities that the same relations led to, or each entity for itself, as in the reference.',
  ),
  listed: whole(2, 500, 70).describe('Entities in one choice, at most.'),
  overflow: choice(['whole', 'likest', 'sample'], 'whole').describe(
    'Handling of a longer list: keep all, keep the entities most similar to the question by their words, or a random sample by seed.',
  ),
  noReturn: choice(['topic', 'relation'], 'topic').describe(
    'What a path may not do next: come back to its topic, or also take the inverse of its last relation (the reference).',
  ),
  hops: hopsOrEndSwitch,
  finalPolicy: choice(['triples', 'alone'], 'triples').describe(
    'What the answer rests on when the depth is exhausted: the facts found, or the model alone (as in the paper).',
  ),
  facts: whole(1, 1000, 60).describe('Facts in a prompt, one way to each entity reached.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

type PogSettings = z.output<typeof pogSettings>;

/** All visited entities, with a path to each. Homonyms are separate entities: names are not compared. */
export class Pool {
  readonly #ways = new Map<number, Walk>();
  readonly #visited = new Set<number>();

  /** All ends of the walk, expanded or not. */
  add(walk: Walk): void {
    for (const entity of frontierOf(walk).entities) if (!this.#ways.has(entity)) this.#ways.set(entity, walk);
  }

  /** Entities at no walk's end and not revisited: those named in the question first, then the most recent. */
  leftBehind(graph: Graph, task: QuestionTask, walks: readonly Walk[]): number[] {
    for (const walk of walks) for (const entity of frontierOf(walk).entities) this.#visited.add(entity);
    const left = [...this.#ways.keys()].filter((entity) => !this.#visited.has(entity)).reverse();
    return [...new Set([...namedInQuestion(graph, task, left), ...left])];
  }

  /** The ways to some of them. */
  comeBack(entities: readonly number[]): Walk[] {
    for (const entity of entities) this.#visited.add(entity);
    return putTogether(entities.map((entity) => narrowed(this.#ways.get(entity)!, new Set([entity]))));
  }
}

export class PogAttempt extends Attempt<WalkingParts<PogSettings>> {
  /** Walks of the last depth, best first. */
  walks: readonly Walk[] = [];
  /** Walks of all depths, the deepest first. */
  all: readonly Walk[] = [];
  /** A good verdict. */
  verdict?: { walk: Walk; answers: readonly string[] };
  /** Walks of every length may hold the answer. */
  open = false;
  readonly pool = new Pool();
  readonly notes = { objectives: [] as readonly string[], memory: [] as readonly string[] };
  /** `entity/relation` of all that was followed. */
  readonly followed = new Set<string>();
}

/** A walk as `Topic → relation (entities)`. */
export const sizedPath = (graph: Graph, walk: Walk): string =>
  `${pathText(graph, walk)} (${frontierOf(walk).entities.length})`;

/** Context blocks of a decision; empty ones are not shown. Model output of any length, so cut first. */
export function noteBlocks({ objectives, memory }: PogAttempt['notes']): ContextBlock[] {
  return [
    { label: 'Objectives', lines: objectives },
    { label: 'Memory', lines: memory },
  ].flatMap((block) => (block.lines.length > 0 ? [{ ...block, role: 'notes' as const }] : []));
}

/** At most four, one for every step on the way to the answer. Undefined where the reply cannot be read. */
export function splitIntoObjectives(attempt: PogAttempt) {
  const { objectiveTask: task, objectiveExamples: examples } = prompts;
  return rewritten(attempt, 'sub-objective', { phase: 'objectives', evidence: [], task, examples, count: 4 });
}

/** Memory after new facts, at most six texts. Undefined when the reply is unreadable: the old memory stays. */
export const renewedMemory = (attempt: PogAttempt, evidence: readonly NamedTriple[]) =>
  rewritten(attempt, 'memory', {
    ...{ phase: 'memory', evidence, task: prompts.memoryTask, examples: prompts.memoryExamples, count: 6 },
    context: noteBlocks(attempt.notes),
  });

async function rewritten(
  attempt: PogAttempt,
  about: RewriteDecision['about'],
  { phase, ...asked }: Pick<RewriteDecision, 'phase' | 'evidence' | 'task' | 'examples' | 'count' | 'context'>,
): Promise<readonly string[] | undefined> {
  const { id: questionId, question } = attempt.task;
  const decision: RewriteDecision = { kind: 'rewrite', about, phase, questionId, question, ...asked };
  const { reply } = await attempt.client.decide(decision);
  if (!reply) attempt.degraded = true;
  return reply?.texts;
}

/** Which of the entities left behind to come back to, by one call; empty also where the reply cannot be read. */
export async function reflect(attempt: PogAttempt, walks: readonly Walk[], left: readonly number[]): Promise<number[]> {
  const { graph, client, notes } = attempt;
  const { reflectTask: task, reflectExamples: examples } = prompts;
  const { reply } = await client.decide({
    ...{ ...attempt.about('choose-many', 'reflect'), task, examples, maxChoices: left.length },
    context: [...noteBlocks(notes), { label: 'Paths', lines: walks.map((walk) => sizedPath(graph, walk)) }],
    candidates: left.map((entity) => ({ kind: 'entity', entity, text: graph.entityNames[entity]! })),
  });
  if (!reply) attempt.degraded = true;
  return (reply?.choices ?? []).map((choice) => left[choice]!);
}
