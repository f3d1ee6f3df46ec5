/** The parts of a question, one a hop, the relations that a part may choose among, and the walks along them. */
import type { QuestionTask } from '../../../datasets/question.js';
import { type Frontier, relationRange } from '../../../src/kg/frontier.js';
import { type Graph, inverseName, inversePrefix } from '../../../src/kg/graph.js';
import { normalizeName } from '../../../src/kg/name-index.js';
import type { Candidate } from '../../../src/llm/decision.js';
import { frontierOf, onwardRelations, stepWalk, type Walk } from '../frontier-steps.js';
import type { Prefilter } from '../prefilter/prefilter.js';

export interface Segments {
  /** A text a hop, in walking order. */
  parts: readonly string[];
  /** True for parts; otherwise each is the question itself. */
  split: boolean;
  /** Hop count unknown: walks of every length up to that of `parts` may hold the answer. */
  open: boolean;
}

/**
 * The parts as the model wrote them, the one that names a topic first. Of no use, and replaced by the question itself once a
 * hop, are parts none of which names a topic, and others than as many as there are hops, where that is known.
 * @param texts undefined where nothing could be read or asked
 * @param bounds.hops undefined if unknown
 */
export function segmentsOf(
  task: QuestionTask,
  texts: readonly string[] | undefined,
  { hops, maxHops }: { hops: number | undefined; maxHops: number },
): Segments {
  const first = texts?.findIndex((text) => namesTopic(task, text)) ?? -1;
  if (texts && first >= 0 && texts.length <= (hops ?? maxHops) && texts.length >= (hops ?? 1)) {
    return { parts: [texts[first]!, ...texts.filter((_, i) => i !== first)], split: true, open: false };
  }
  return { parts: new Array<string>(hops ?? maxHops).fill(task.question), split: false, open: hops === undefined };
}

/** True when a text contains a topic of the question, by its name or its mention. */
export function namesTopic({ question, topics }: QuestionTask, text: string): boolean {
  const said = ` ${normalizeName(text)} `;
  const names = topics.flatMap(({ name, span }) => [name, ...(span ? [question.slice(...span)] : [])]);
  return names.map(normalizeName).some((name) => name !== '' && said.includes(` ${name} `));
}

/** An offered relation: one direction, or both. */
export interface OfferedRelation {
  /** One or two relation ids. */
  ways: readonly number[];
  text: string;
}

/** The relations that lead on from some entities, by name. @param direction whether a relation and its inverse are one */
export function offeredRelations(
  graph: Graph,
  frontier: Frontier,
  excluded: readonly number[],
  direction: 'dropped' | 'kept',
): OfferedRelation[] {
  const byText = Map.groupBy(onwardRelations(graph, frontier, excluded), (relation) => {
    const name = graph.relationNames[relation]!;
    return direction === 'dropped' && name.startsWith(inversePrefix) ? inverseName(name) : name;
  });
  const texts = [...byText.keys()].sort();
  return texts.map((text) => ({ text, ways: byText.get(text)! }));
}

/** Offered relations kept by the pre-filter; the better direction of a relation counts. */
export async function thinned(
  prefilter: Prefilter,
  task: QuestionTask,
  walked: readonly number[],
  offered: readonly OfferedRelation[],
  signal?: AbortSignal,
): Promise<OfferedRelation[]> {
  const ids = offered.flatMap(({ ways }) => [...ways]);
  const kept = await prefilter.keep(task, walked, ids, signal);
  if (kept.length === ids.length) return [...offered];
  const rank = ({ ways }: OfferedRelation) =>
    Math.min(...ways.map((way) => (kept.indexOf(way) + ids.length) % ids.length));
  const some = offered.filter(({ ways }) => ways.some((way) => kept.includes(way)));
  return some.sort((a, b) => rank(a) - rank(b));
}

/** Candidates of the offered relations, in their order. */
export function offeredCandidates(offered: readonly OfferedRelation[]): Candidate[] {
  return offered.map(({ ways: [relation, inverse], text }) => ({
    ...{ kind: 'relation', relation: relation!, text },
    ...(inverse !== undefined && { inverse }),
  }));
}

/** Everything one step from a set of entities, along any relation. O(edges of the set). */
export function anyStep(graph: Graph, { entities }: Frontier, excluded: readonly number[]): Frontier {
  const reached = new Set<number>();
  for (const entity of entities) {
    for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) reached.add(graph.tails[edge]!);
  }
  for (const entity of excluded) reached.delete(entity);
  return setOf(reached);
}

/** The entities as a frontier, each counted once. */
export function setOf(entities: Iterable<number>): Frontier {
  const sorted = Int32Array.from(new Set(entities)).sort();
  return { entities: sorted, counts: new Float64Array(sorted.length).fill(1) };
}

/** Walks kept after a hop: three relations, each both ways, over three hops are fewer. */
export const mostWalks = 216;

/**
 * The walks one hop further, in the order of their relations' ranks; those that lead nowhere are left out.
 * @param chosen of this hop, best first
 * @param rule `reference`: from the second hop on a node keeps the first of its tails alone
 */
export function grownWalks(
  graph: Graph,
  walks: readonly Walk[],
  chosen: readonly OfferedRelation[],
  rule: 'all' | 'reference',
): Walk[] {
  const grown = walks.flatMap((walk, rank) =>
    chosen.flatMap(({ ways }, own) =>
      ways.map((relation) => ({ rank: rank + own, walk: grownWalk(graph, walk, relation, rule) })),
    ),
  );
  return grown
    .filter(({ walk }) => frontierOf(walk).entities.length > 0)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, mostWalks)
    .map(({ walk }) => walk);
}

function grownWalk(graph: Graph, walk: Walk, relation: number, rule: 'all' | 'reference'): Walk {
  const whole = stepWalk(graph, walk, relation);
  if (rule === 'all' || walk.relations.length === 0) return whole;
  return { ...whole, frontiers: [...walk.frontiers, firstTails(graph, frontierOf(walk), relation, walk.excluded)] };
}

/** Tail with the lowest id of every entity. */
function firstTails(graph: Graph, { entities }: Frontier, relation: number, excluded: readonly number[]): Frontier {
  const counts = new Map<number, number>();
  for (const entity of entities) {
    const tails = graph.tails.subarray(...relationRange(graph, entity, relation));
    const first = tails.find((tail) => !excluded.includes(tail));
    if (first !== undefined) counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  const reached = Int32Array.from(counts.keys()).sort();
  return { entities: reached, counts: Float64Array.from(reached, (entity) => counts.get(entity)!) };
}
