/** Evidence of chosen relations: every walk along them, in either direction of each relation. */
import type { Frontier } from '../../../src/kg/frontier.js';
import { relationRange } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';
import { frontierOf, stepWalk, type Walk } from '../frontier-steps.js';
import type { OfferedRelation } from './segments.js';

/** Walks kept after a hop: three relations, each both ways, over three hops are fewer. */
const mostWalks = 216;

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
