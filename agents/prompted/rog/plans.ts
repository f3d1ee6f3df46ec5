/** Relation sequences that the model plans: chosen among those that are offered, or written in its own words. */
import { excludedTopics, type QuestionTask } from '../../../datasets/question.js';
import { frontierRelations, initialFrontier, stepFrontier } from '../../../src/kg/frontier.js';
import { type Graph, inverseName, inversePrefix } from '../../../src/kg/graph.js';
import { normalizeName } from '../../../src/kg/name-index.js';
import type { DecisionClient, Example, RewriteReply } from '../../../src/llm/decision.js';
import { plainChain } from '../../../src/llm/decisions/likelihood/plain-text.js';
import { unwrapped } from '../../../src/llm/decisions/reply-values.js';
import { unlessSpent } from '../facts.js';
import { type ChainChoice, mostListed } from '../self-veqa/chains.js';
import { propose } from '../self-veqa/roles.js';
import { readableRelation } from '../self-veqa/sub-graph.js';

/** Prompt for plans in the model's own words. */
const planTask =
  'Plan sequences of relations that lead from the entity in the question to its answer, the most reasonable first. Write each as relation → relation, with ~ before a relation that is followed backwards.';

const planExamples: readonly Example<RewriteReply>[] = [
  {
    question: 'who planted the trees that grow beside Mill Pond',
    reply: { texts: ['~grows_beside → planted_by', '~grows_beside → owned_by'] },
  },
];

/** Planned relation sequences. */
export interface Planned {
  /** Best first. */
  chains: readonly (readonly number[])[];
  confidence?: number;
  /** Notes on plans that cannot be followed. */
  note?: string;
}

/** Number of plans; `final` for the question's last call. */
type PlanLimits = { count: number; final: boolean };

/**
 * The best of what is offered, in one call, or none where one sequence is offered. Where words are scored, sequences that read alike,
 * as they differ in direction alone, are one plan: all of them are given.
 * @returns `budget` where it is spent, `unparsed` where the reply could not be read
 */
export async function planAmong(
  graph: Graph,
  task: QuestionTask,
  client: DecisionClient,
  { allowed, vocabulary, hops }: ChainChoice,
  { count, final }: PlanLimits,
): Promise<Planned | 'budget' | 'unparsed'> {
  if (allowed.length === 1) return { chains: allowed };
  const most = client.byLikelihood ? allowed.length : Math.min(count, allowed.length);
  const asked = propose({ graph, client, task, hops, allowed, vocabulary, shots: [], tried: [], count: most, final });
  const proposed = await unlessSpent(asked.then((reply) => reply ?? 'unparsed'));
  if (proposed === undefined) return 'budget';
  if (proposed === 'unparsed' || !client.byLikelihood) return proposed;
  const words = (chain: readonly number[]) => plainChain(chain.map((relation) => graph.relationNames[relation]!));
  const kept = new Set<string>();
  const chains = proposed.chains.filter((chain) => {
    if (kept.size < count) kept.add(words(chain));
    return kept.has(words(chain));
  });
  return { ...proposed, chains };
}

/** Relations by what they are called; made once a graph. */
export type RelationNames = ReadonlyMap<string, readonly number[]>;

/** Both directions of a relation, and relations of other kinds that end in the same words, share a name; in order of ids. */
export function relationsByName(graph: Graph): RelationNames {
  return Map.groupBy(graph.relationNames.keys(), (relation) => spoken(graph.relationNames[relation]!));
}

const spoken = (name: string): string => normalizeName(readableRelation(name)) || name;

/** Steps of a plan that are followed; a longer one is no plan. */
const longestPlan = 4;

/**
 * Plans in the model's own words, in one call. A name is a relation's where both read alike (letter case, `_` and what stands
 * before the last dot apart, unless the whole name is some relation's); it means either direction, with `~` for the backward one. A plan with a name that no
 * relation has, or that leads nowhere in any direction, cannot be followed: the note counts these.
 * @param hops relations of a plan; undefined: any number
 * @returns as `planAmong`; no chains where no plan can be followed
 */
export async function planFreely(
  graph: Graph,
  names: RelationNames,
  task: QuestionTask,
  client: DecisionClient,
  { count, final, hops }: PlanLimits & { hops: number | undefined },
): Promise<Planned | 'budget' | 'unparsed'> {
  const topics = task.topics.flatMap(({ entity }) => (entity >= 0 ? [entity] : []));
  const listed = graph.numRelations > mostListed ? [] : [[...graph.relationNames].sort().join(', ')];
  const context = [
    { label: 'Relations', lines: listed },
    { label: 'Length of a plan', lines: hops === undefined ? [] : [`${hops}`] },
  ];
  const decided = await unlessSpent(
    client.decide({
      ...{ kind: 'rewrite', about: 'plan', phase: 'plan', questionId: task.id, question: task.question },
      ...{ task: planTask, examples: planExamples, evidence: [], subjects: topics, count, final },
      context: context.filter(({ lines }) => lines.length > 0),
    }),
  );
  if (!decided?.reply) return decided ? 'unparsed' : 'budget';
  const plans = decided.reply.texts.map((text) =>
    text
      .split(/→|(?<!=)=+>|(?<!-)-+>|,|;/)
      .map(unwrapped)
      .filter(Boolean),
  );
  const unknown = new Set(plans.flat().filter((name) => called(graph, names, name).length === 0));
  const foreign = plans.filter((plan) => plan.some((name) => unknown.has(name)));
  const steps = (plan: readonly string[]) => plan.map((name) => called(graph, names, name));
  const followed = plans.map((plan) => followedChains(graph, task, topics, steps(plan)));
  const chains = followed.flat();
  const nowhere = followed.filter((some) => some.length === 0).length - foreign.length;
  const lacking = `${foreign.length} of ${plans.length} plans name what is no relation: ${[...unknown].join(', ')}`;
  const notes = [
    foreign.length > 0 && lacking,
    nowhere > 0 && `${nowhere} of ${plans.length} plans lead nowhere`,
  ].filter((note) => note !== false);
  const distinct = [...new Map(chains.map((chain) => [chain.join(), chain])).values()];
  return { chains: distinct, ...(notes.length > 0 && { note: `${notes.join('; ')}.` }) };
}

/** Relations that a written name may stand for. */
function called(graph: Graph, names: RelationNames, written: string): number[] {
  const backwards = written.startsWith(inversePrefix);
  const bare = backwards ? inverseName(written) : written;
  const nameOf = (relation: number) => graph.relationNames[relation]!;
  const alike = (names.get(spoken(bare)) ?? []).filter((one) => !backwards || nameOf(one).startsWith(inversePrefix));
  const exact = alike.filter((one) => nameOf(one) === bare || nameOf(one) === inverseName(bare));
  return exact.length > 0 ? exact : alike;
}

/** Every sequence of one relation of each step that leads somewhere. */
function followedChains(
  graph: Graph,
  task: QuestionTask,
  topics: readonly number[],
  steps: readonly (readonly number[])[],
): number[][] {
  if (steps.length === 0 || steps.length > longestPlan) return [];
  const excluded = excludedTopics(task);
  let walks = [{ chain: [] as number[], frontier: initialFrontier(topics) }];
  for (const relations of steps) {
    walks = walks.flatMap(({ chain, frontier }) => {
      const onward = new Set(frontierRelations(graph, frontier, excluded));
      const open = relations.filter((relation) => onward.has(relation));
      return open.map((relation) => ({
        chain: [...chain, relation],
        frontier: stepFrontier(graph, frontier, relation, excluded),
      }));
    });
  }
  return walks.map(({ chain }) => chain);
}
