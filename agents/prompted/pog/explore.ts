/** One depth of Plan-on-Graph: extends walks by one relation and selects the entities to expand next. */
import type { QuestionTask } from '../../../datasets/question.js';
import { canonicalOrder } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import type { QuestionSession } from '../../question-agent.js';
import {
  frontierDegree,
  frontierOf,
  namedInQuestion,
  narrowed,
  onwardRelations,
  putTogether,
  relationChoice,
  stepWalk,
  takenApart,
  type Walk,
} from '../frontier-steps.js';
import { type Prefilter, shareOf } from '../prefilter/prefilter.js';
import { overlapSource } from '../prefilter/text-source.js';
import { chooseSome } from '../walk-choice.js';
import { type Notes, noteBlocks } from './memory.js';
import { entityExamples, entityTask, relationExamples, relationTask } from './prompts.js';
import type { Pool } from './reflect.js';
import type { PogSettings } from './settings.js';

/** An extended walk. */
export interface Standing {
  walk: Walk;
  /** It was come back to: what was followed from there before is not offered again. */
  returned: boolean;
}

export interface Exploration {
  graph: Graph;
  settings: PogSettings;
  prefilter: Prefilter;
  seed: number;
  task: QuestionTask;
  session: QuestionSession;
  pool: Pool;
  notes: Notes;
  /** `entity/relation` of all that was followed. */
  followed: Set<string>;
  /** Counts reads of the graph. */
  read: (edges: number) => void;
  /** Called where a reply could not be read. */
  degrade: () => void;
  /** Called with the share of what was chosen; undefined of what was written. */
  chose: (confidence: number | undefined) => void;
}

/** The walks one relation further, best first, one a relation sequence; empty where no way leads on. */
export async function explored(standing: readonly Standing[], exploration: Exploration): Promise<Walk[]> {
  const { settings } = exploration;
  const heads =
    settings.calls === 'frontier'
      ? standing
      : standing.flatMap(({ walk, returned }) => takenApart(walk).map((one) => ({ walk: one, returned })));
  const grown: { rank: number; walk: Walk }[] = [];
  for (const [place, head] of heads.entries()) {
    for (const [own, relation] of (await chosenRelations(head, exploration)).entries()) {
      const walk = await alongRelation(head.walk, relation, exploration);
      if (frontierOf(walk).entities.length > 0) {
        grown.push({ rank: own + (settings.calls === 'frontier' ? place : 0), walk });
      }
    }
  }
  return putTogether(grown.sort((a, b) => a.rank - b.rank).map(({ walk }) => walk));
}

/** At most `relations`, best first. One alone costs no call; none where the reply cannot be read. */
async function chosenRelations({ walk, returned }: Standing, exploration: Exploration): Promise<number[]> {
  const { graph, settings, prefilter, task, session, notes, followed } = exploration;
  const frontier = frontierOf(walk);
  await graph.ensure(frontier.entities, session.signal);
  exploration.read(frontierDegree(graph, frontier));
  const last = walk.relations.at(-1);
  const back = settings.noReturn === 'relation' && last !== undefined ? graph.inverseOf[last] : undefined;
  const isNew = (relation: number) =>
    relation !== back && (!returned || [...frontier.entities].some((entity) => !followed.has(`${entity}/${relation}`)));
  const onward = onwardRelations(graph, frontier, walk.excluded).filter(isNew);
  const relations = await prefilter.keep(task, walk.relations, onward, session.signal);
  let chosen = relations;
  if (relations.length === 1)
    exploration.chose(await shareOf(prefilter, task, walk.relations, onward, relations, session.signal));
  if (relations.length > 1) {
    const choice = relationChoice(graph, task, walk, relations);
    const { choices, confidence } = await chooseSome(session.client, {
      ...choice,
      ...{ kind: 'choose-many', phase: 'relations', maxChoices: settings.relations },
      ...{ task: relationTask, examples: relationExamples },
      context: [...noteBlocks(notes), ...choice.context],
    });
    exploration.chose(confidence);
    if (!choices) exploration.degrade();
    chosen = (choices ?? []).map((place) => relations[place]!);
  }
  for (const relation of chosen) for (const entity of frontier.entities) followed.add(`${entity}/${relation}`);
  return chosen;
}

/** The walk along a relation, to the entities that the model keeps. All that it leads to may be come back to. */
async function alongRelation(walk: Walk, relation: number, exploration: Exploration): Promise<Walk> {
  const { graph, task, session, notes } = exploration;
  const whole = stepWalk(graph, walk, relation);
  const tails = canonicalOrder(frontierOf(whole));
  exploration.read(tails.length);
  exploration.pool.add(whole);
  const listed = await listedTails(tails, whole, exploration);
  if (!asks(listed, tails, exploration)) return narrowed(whole, new Set(listed));
  const { context, subjects } = relationChoice(graph, task, walk, [relation]);
  const way = `${context[0]!.lines[0]!} → ${graph.relationNames[relation]!}`;
  const { reply, confidence } = await session.client.decide({
    ...{ kind: 'choose-many', phase: 'entities', questionId: task.id, question: task.question, evidence: [] },
    ...{ task: entityTask, examples: entityExamples, maxChoices: listed.length, subjects },
    context: [...noteBlocks(notes), { label: 'Path', lines: [way] }],
    candidates: listed.map((entity) => ({ kind: 'entity', entity, relation, text: graph.entityNames[entity]! })),
  });
  exploration.chose(confidence);
  if (!reply) exploration.degrade();
  return narrowed(whole, new Set(reply ? reply.choices.map((place) => listed[place]!) : listed));
}

/**
 * A single entity, a long list that is kept whole and names of digits only, such as years, are not asked about; nor, where
 * words are scored, equals: entities none of which the question names.
 */
function asks(listed: readonly number[], tails: readonly number[], exploration: Exploration): boolean {
  const { graph, settings, task, session } = exploration;
  if (listed.length < 2 || listed.length > settings.listed) return false;
  if (listed.every((entity) => /^\d+$/.test(graph.entityNames[entity]!))) return false;
  return !session.client.byLikelihood || namedInQuestion(graph, task, tails).length > 0;
}

/** The tails, or of more than `listed` those that the overflow rule leaves. */
async function listedTails(
  tails: readonly number[],
  whole: Walk,
  exploration: Exploration,
): Promise<readonly number[]> {
  const { graph, settings, seed, task } = exploration;
  const { listed, overflow } = settings;
  if (tails.length <= listed || overflow === 'whole') return tails;
  if (overflow === 'sample') {
    const rng = Rng.named(seed, `pog/sample/${task.id}/${whole.relations.join()}/${tails[0]}`);
    return [...rng.shuffle(Int32Array.from(tails)).subarray(0, listed)];
  }
  const likeness = await overlapSource(
    task,
    tails.map((entity) => graph.entityNames[entity]!),
    [],
  );
  const order = [...tails.keys()].sort((a, b) => likeness[b]! - likeness[a]! || a - b);
  return order.slice(0, listed).map((place) => tails[place]!);
}
