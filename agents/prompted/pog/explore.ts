/** One depth of Plan-on-Graph: extends walks by one relation and selects the entities to expand next. */
import { canonicalOrder } from '../../../src/kg/frontier.js';
import { Rng } from '../../../src/run/seeds.js';
import {
  frontierOf,
  namedInQuestion,
  narrowed,
  putTogether,
  relationChoice,
  stepWalk,
  takenApart,
  type Walk,
} from '../frontier-steps.js';
import { overlapSource } from '../prefilter/text-source.js';
import { chooseSome } from '../walk-choice.js';
import { noteBlocks, type PogAttempt } from './notes.js';
import { entityExamples, entityTask, relationExamples, relationTask } from './prompts.js';

export interface Standing {
  walk: Walk;
  /** It was come back to: what was followed from there before is not offered again. */
  returned: boolean;
}

/** The walks one relation further, best first, one a relation sequence; empty where no way leads on. */
export async function explored(standing: readonly Standing[], attempt: PogAttempt): Promise<Walk[]> {
  const { settings } = attempt;
  const heads =
    settings.calls === 'frontier'
      ? standing
      : standing.flatMap(({ walk, returned }) => takenApart(walk).map((one) => ({ walk: one, returned })));
  const grown: { rank: number; walk: Walk }[] = [];
  for (const [index, head] of heads.entries()) {
    for (const [own, relation] of (await chosenRelations(head, attempt)).entries()) {
      const walk = await alongRelation(head.walk, relation, attempt);
      if (frontierOf(walk).entities.length > 0) {
        grown.push({ rank: own + (settings.calls === 'frontier' ? index : 0), walk });
      }
    }
  }
  return putTogether(grown.sort((a, b) => a.rank - b.rank).map(({ walk }) => walk));
}

/** At most `relations`, best first. One alone costs no call; none where the reply cannot be read. */
async function chosenRelations({ walk, returned }: Standing, attempt: PogAttempt): Promise<number[]> {
  const { graph, settings, task, session, notes, followed } = attempt;
  const frontier = frontierOf(walk);
  await graph.ensure(frontier.entities, session.signal);
  const last = walk.relations.at(-1);
  const back = settings.noReturn === 'relation' && last !== undefined ? graph.inverseOf[last] : undefined;
  const isNew = (relation: number) =>
    relation !== back && (!returned || [...frontier.entities].some((entity) => !followed.has(`${entity}/${relation}`)));
  const { relations, share } = await attempt.onward(walk, isNew);
  let chosen = relations;
  if (relations.length === 1) attempt.chose(share);
  if (relations.length > 1) {
    const choice = relationChoice(graph, task, walk, relations);
    const { choices, confidence } = await chooseSome(session.client, {
      ...choice,
      ...{ kind: 'choose-many', phase: 'relations', maxChoices: settings.relations },
      ...{ task: relationTask, examples: relationExamples },
      context: [...noteBlocks(notes), ...choice.context],
    });
    attempt.chose(confidence);
    if (!choices) attempt.degraded = true;
    chosen = (choices ?? []).map((index) => relations[index]!);
  }
  for (const relation of chosen) for (const entity of frontier.entities) followed.add(`${entity}/${relation}`);
  return chosen;
}

/** The walk along a relation, to the entities that the model keeps. All that it leads to may be come back to. */
async function alongRelation(walk: Walk, relation: number, attempt: PogAttempt): Promise<Walk> {
  const { graph, task, client, notes } = attempt;
  const whole = stepWalk(graph, walk, relation);
  const tails = canonicalOrder(frontierOf(whole));
  attempt.graphReads += tails.length;
  attempt.pool.add(whole);
  const listed = await listedTails(tails, whole, attempt);
  if (!asks(listed, tails, attempt)) return narrowed(whole, new Set(listed));
  const { context, subjects } = relationChoice(graph, task, walk, [relation]);
  const way = `${context[0]!.lines[0]!} → ${graph.relationNames[relation]!}`;
  const { reply, confidence } = await client.decide({
    ...attempt.about('choose-many', 'entities'),
    ...{ task: entityTask, examples: entityExamples, maxChoices: listed.length, subjects },
    context: [...noteBlocks(notes), { label: 'Path', lines: [way] }],
    candidates: listed.map((entity) => ({ kind: 'entity', entity, relation, text: graph.entityNames[entity]! })),
  });
  attempt.chose(confidence);
  if (!reply) attempt.degraded = true;
  return narrowed(whole, new Set(reply ? reply.choices.map((index) => listed[index]!) : listed));
}

/**
 * A single entity, a long list that is kept whole and names of digits only, such as years, are not asked about; nor, where
 * words are scored, equals: entities none of which the question names.
 */
function asks(listed: readonly number[], tails: readonly number[], attempt: PogAttempt): boolean {
  const { graph, settings, task, session } = attempt;
  if (listed.length < 2 || listed.length > settings.listed) return false;
  if (listed.every((entity) => /^\d+$/.test(graph.entityNames[entity]!))) return false;
  return !session.client.byLikelihood || namedInQuestion(graph, task, tails).length > 0;
}

/** The tails, or of more than `listed` those that the overflow rule leaves. */
async function listedTails(tails: readonly number[], whole: Walk, attempt: PogAttempt): Promise<readonly number[]> {
  const { graph, settings, task } = attempt;
  const { listed, overflow } = settings;
  if (tails.length <= listed || overflow === 'whole') return tails;
  if (overflow === 'sample') {
    const rng = Rng.named(attempt.parts.resources.seed, `pog/sample/${task.id}/${whole.relations.join()}/${tails[0]}`);
    return [...rng.shuffle(Int32Array.from(tails)).subarray(0, listed)];
  }
  const likeness = await overlapSource(
    task,
    tails.map((entity) => graph.entityNames[entity]!),
    [],
  );
  const order = [...tails.keys()].sort((a, b) => likeness[b]! - likeness[a]! || a - b);
  return order.slice(0, listed).map((index) => tails[index]!);
}
