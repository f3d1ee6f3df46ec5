/** One hop of KnowledgeNavigator: entities that are asked about together, the vote on each such set, and the walks that it makes. */
import type { QuestionTask } from '../../../datasets/question.js';
import type { Frontier } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { ContextBlock } from '../../../src/llm/decision.js';
import type { QuestionSession } from '../../question-agent.js';
import {
  frontierDegree,
  frontierOf,
  narrowed,
  pathBlock,
  putTogether,
  stepWalk,
  type Walk,
} from '../frontier-steps.js';
import { offeredCandidates, type OfferedRelation, offeredRelations, setOf, thinned } from '../kg-gpt/segments.js';
import type { Prefilter } from '../prefilter/prefilter.js';
import { directionNote } from './prompts.js';
import type { KnowledgeNavigatorSettings } from './settings.js';
import { vote, type Voter } from './vote.js';

/** A walk with what the votes that led to it came to. */
export interface WeighedWalk {
  walk: Walk;
  /** Products of the shares of the votes, summed over the expanded entities. */
  weight: number;
}

export interface Retrieval {
  graph: Graph;
  settings: KnowledgeNavigatorSettings;
  prefilter: Prefilter;
  task: QuestionTask;
  session: QuestionSession;
  voters: readonly Voter[];
  /** Expanded entities. */
  seen: Set<number>;
  /** Counts reads of the graph. */
  read: (edges: number) => void;
  /** Called where a vote could not be read. */
  degrade: () => void;
}

/** Maximum relation sequences kept after a hop. */
const mostWalks = 216;

/**
 * The walks one relation further, those with most votes behind them first; empty where no way leads on or no vote could be read.
 * @param keep called with the state when the budget ends, before its error is rethrown
 */
export async function hopFurther(
  walks: readonly WeighedWalk[],
  retrieval: Retrieval,
  keep: (walks: WeighedWalk[]) => void,
): Promise<WeighedWalk[]> {
  const { graph, settings, seen } = retrieval;
  const all = new Set(walks.flatMap(({ walk }) => [...frontierOf(walk).entities]));
  const standing = setOf(settings.noReturn === 'seen' ? [...all].filter((entity) => !seen.has(entity)) : all);
  for (const entity of standing.entities) seen.add(entity);
  retrieval.read(frontierDegree(graph, standing));
  const grown: WeighedWalk[] = [];
  try {
    for (const group of unionsOf(standing, walks[0]!.walk, retrieval)) {
      grown.push(...(await walksFrom(group, walks, retrieval)));
    }
  } catch (error) {
    keep(bySequence(grown));
    throw error;
  }
  return bySequence(grown);
}

/** A walk a relation sequence, most weight first. */
function bySequence(grown: readonly WeighedWalk[]): WeighedWalk[] {
  const weights = new Map<string, number>();
  for (const { walk, weight } of grown) {
    const key = walk.relations.join();
    weights.set(key, (weights.get(key) ?? 0) + weight);
  }
  return putTogether(grown.map(({ walk }) => walk))
    .map((walk) => ({ walk, weight: weights.get(walk.relations.join())! }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, mostWalks);
}

/** Sets of entities that share a vote; each is the end of some walk. */
function unionsOf(standing: Frontier, { excluded }: Walk, { graph, settings }: Retrieval): Frontier[] {
  if (settings.union === 'hop') return standing.entities.length > 0 ? [standing] : [];
  const each = [...standing.entities].map((entity) => setOf([entity]));
  if (settings.union === 'entity') return each;
  const bySignature = new Map<string, number[]>();
  for (const one of each) {
    const signature = offeredRelations(graph, one, excluded, settings.direction).flatMap(({ ways }) => ways);
    const key = signature.join();
    bySignature.set(key, [...(bySignature.get(key) ?? []), one.entities[0]!]);
  }
  return [...bySignature.values()].map(setOf);
}

/** The walks that lead on from a set of entities, over the relations that the vote leaves. */
async function walksFrom(group: Frontier, walks: readonly WeighedWalk[], retrieval: Retrieval): Promise<WeighedWalk[]> {
  const { graph } = retrieval;
  const members = new Set(group.entities);
  const from = walks.flatMap(({ walk, weight }) => {
    const part = narrowed(walk, members);
    const share = frontierOf(part).entities.length / frontierOf(walk).entities.length;
    return share > 0 ? [{ walk: part, weight: weight * share }] : [];
  });
  const chosen = await relationsFor(group, from[0]!.walk, retrieval);
  return from.flatMap(({ walk, weight }) =>
    chosen.flatMap(({ relation: { ways }, share }) =>
      ways
        .map((way) => ({ walk: stepWalk(graph, walk, way), weight: weight * share }))
        .filter((one) => frontierOf(one.walk).entities.length > 0),
    ),
  );
}

/** Relations to follow, best first: all if there are few enough, else the elected ones. */
async function relationsFor(
  group: Frontier,
  walk: Walk,
  { graph, settings, prefilter, task, session, voters, degrade }: Retrieval,
): Promise<{ relation: OfferedRelation; share: number }[]> {
  const { best, union, direction } = settings;
  const offered = offeredRelations(graph, group, walk.excluded, direction);
  const kept = await thinned(prefilter, task, walk.relations, offered, session.signal);
  if (kept.length <= best) return kept.map((relation) => ({ relation, share: 1 / kept.length }));
  const context: ContextBlock[] = [pathBlock(graph, walk)];
  // Scored texts get only the path, next to the question.
  if (union === 'entity' && !session.client.byLikelihood) {
    context.push({ label: 'Entity', lines: [graph.entityNames[group.entities[0]!]!] });
  }
  const ballot = { questionId: task.id, evidence: [], context, subjects: [...group.entities] };
  const { elected, unread } = await vote(
    session.client,
    voters,
    { ...ballot, candidates: offeredCandidates(kept) },
    { best, note: direction === 'kept' ? directionNote : '' },
  );
  if (unread) degrade();
  const chosen = elected.map(({ place, share }) => ({ relation: kept[place]!, share }));
  const names = chosen.map(({ relation: { text }, share }) => `${text} (${share.toFixed(2)})`);
  session.trace({ event: 'decision', phase: 'relation', summary: names.join('; ') });
  return chosen;
}
