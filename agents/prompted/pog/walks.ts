/** Splitting walks by entity, and merging them by relation sequence. */
import type { Frontier } from '../../../src/kg/frontier.js';
import { frontierOf, narrowed, type Walk } from '../frontier-steps.js';

/** One walk per entity. */
export function takenApart(walk: Walk): Walk[] {
  return [...frontierOf(walk).entities].map((entity) => narrowed(walk, new Set([entity])));
}

/** One walk per relation sequence, in order of first occurrence: the union of its walks. */
export function putTogether(walks: readonly Walk[]): Walk[] {
  const bySequence = new Map<string, Walk>();
  for (const walk of walks) {
    const key = walk.relations.join();
    const known = bySequence.get(key);
    const last = walk.frontiers.length - 1;
    const together = (i: number) =>
      // Inner frontiers are shared; last frontiers have separate paths.
      union(known!.frontiers[i]!, walk.frontiers[i]!, i === last ? (a, b) => a + b : Math.max);
    bySequence.set(key, known ? { ...walk, frontiers: walk.frontiers.map((_, i) => together(i)) } : walk);
  }
  return [...bySequence.values()];
}

function union(a: Frontier, b: Frontier, join: (a: number, b: number) => number): Frontier {
  const counts = new Map<number, number>();
  for (const { entities, counts: own } of [a, b]) {
    entities.forEach((entity, i) => {
      const known = counts.get(entity);
      counts.set(entity, known === undefined ? own[i]! : join(known, own[i]!));
    });
  }
  const entities = Int32Array.from(counts.keys()).sort();
  return { entities, counts: Float64Array.from(entities, (entity) => counts.get(entity)!) };
}
