/** One hop of KnowledgeNavigator: entities that are asked about together, the vote on each such set, and the walks that it makes. */
import type { Frontier } from '../../../src/kg/frontier.js';
import type { ContextBlock } from '../../../src/llm/decision.js';
import {
  answersSwitch,
  frontierDegree,
  frontierOf,
  narrowed,
  pathBlock,
  putTogether,
  stepWalk,
  type Walk,
} from '../frontier-steps.js';
import {
  mostWalks,
  offeredCandidates,
  type OfferedRelation,
  offeredRelations,
  setOf,
  thinned,
} from '../kg-gpt/segments.js';
import { Attempt, type WalkingParts } from '../walking-agent.js';
import { directionNote } from './prompts.js';
import { vote, type Voter } from './vote.js';
import { z } from 'zod';
import { choice, flag, whole } from '../../registry.js';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';

export const knowledgeNavigatorSettings = z.strictObject({
  paraphrases: whole(0, 5, 2).describe(
    'Paraphrases that vote together with the question; 0: the question votes alone.',
  ),
  weight: z
    .number()
    .positive()
    .max(10)
    .default(0.51)
    .describe('Weight of a paraphrase’s vote, the question’s being 1: at 0.51 two that agree outvote it.'),
  best: whole(1, 20, 1).describe('Relations kept by a vote; no vote is held when there are no more than that.'),
  union: choice(['hop', 'signature', 'entity'], 'hop').describe(
    'What one vote decides for: all entities of a hop, those of a hop that have the same relations, or each entity for itself, as in the reference.',
  ),
  hops: hopsSwitch,
  maxHops: whole(1, 8, 3).describe('Longest walk if the hop count is unknown.'),
  direction: choice(['dropped', 'kept'], 'dropped').describe(
    'Offer a relation by its bare name and walk both directions, or offer each direction separately.',
  ),
  noReturn: choice(['topic', 'seen'], 'topic').describe(
    'Entities that are not expanded: the topic, or all that were expanded before, as in the reference.',
  ),
  aggregate: flag(true).describe(
    'In the answer prompt facts of one head and relation stand in one line, and so do those of one relation and tail.',
  ),
  facts: whole(1, 1000, 60).describe('Facts in the answer prompt, one way to each entity reached.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

type KnowledgeNavigatorSettings = z.output<typeof knowledgeNavigatorSettings>;

/** A walk with what the votes that led to it came to. */
export interface WeighedWalk {
  walk: Walk;
  /** Products of the shares of the votes, summed over the expanded entities. */
  weight: number;
}

export class Retrieval extends Attempt<WalkingParts<KnowledgeNavigatorSettings>> {
  voters: readonly Voter[] = [];
  /** Expanded entities. */
  readonly seen = new Set<number>();
  /** The longest walks, most votes first. */
  walks: readonly WeighedWalk[] = [];
  /** Those of every length, the longest first. */
  all: readonly WeighedWalk[] = [];
  /** Walks of every length may hold the answer. */
  open = false;
}

/**
 * The walks one relation further, those with most votes behind them first; empty where no way leads on or no vote could be read. They are
 * kept with the question, also when the budget ends.
 */
export async function hopFurther(walks: readonly WeighedWalk[], retrieval: Retrieval): Promise<WeighedWalk[]> {
  const { graph, settings, seen } = retrieval;
  const all = new Set(walks.flatMap(({ walk }) => [...frontierOf(walk).entities]));
  const standing = setOf(settings.noReturn === 'seen' ? [...all].filter((entity) => !seen.has(entity)) : all);
  for (const entity of standing.entities) seen.add(entity);
  retrieval.graphReads += frontierDegree(graph, standing);
  const grown: WeighedWalk[] = [];
  try {
    for (const group of unionsOf(standing, walks[0]!.walk, retrieval)) {
      grown.push(...(await walksFrom(group, walks, retrieval)));
    }
  } finally {
    if (grown.length > 0) {
      retrieval.walks = bySequence(grown);
      retrieval.all = [...retrieval.walks, ...retrieval.all];
    }
  }
  return grown.length > 0 ? [...retrieval.walks] : [];
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
  if (settings.union === 'entity') return [...standing.entities].map((entity) => setOf([entity]));
  const bySignature = Map.groupBy(standing.entities, (entity) =>
    offeredRelations(graph, setOf([entity]), excluded, settings.direction)
      .flatMap(({ ways }) => ways)
      .join(),
  );
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
  retrieval: Retrieval,
): Promise<{ relation: OfferedRelation; share: number }[]> {
  const { graph, settings, task, session, client, voters } = retrieval;
  const { best, union, direction } = settings;
  const offered = offeredRelations(graph, group, walk.excluded, direction);
  const kept = await thinned(retrieval.parts.prefilter, task, walk.relations, offered, session.signal);
  if (kept.length <= best) return kept.map((relation) => ({ relation, share: 1 / kept.length }));
  const context: ContextBlock[] = [pathBlock(graph, walk)];
  // Scored texts get only the path, next to the question.
  if (union === 'entity' && !client.byLikelihood) {
    context.push({ label: 'Entity', lines: [graph.entityNames[group.entities[0]!]!] });
  }
  const ballot = {
    questionId: task.id,
    evidence: [],
    context,
    subjects: [...group.entities],
    candidates: offeredCandidates(kept),
  };
  const note = direction === 'kept' ? directionNote : '';
  const { elected, unread } = await vote(client, voters, ballot, { best, note });
  if (unread) retrieval.degraded = true;
  const chosen = elected.map(({ index, share }) => ({ relation: kept[index]!, share }));
  const names = chosen.map(({ relation: { text }, share }) => `${text} (${share.toFixed(2)})`);
  session.trace({ event: 'decision', phase: 'relation', summary: names.join('; ') });
  return chosen;
}
