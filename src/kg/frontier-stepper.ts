/** Steps of frontiers as fast as arrays allow: what environments and decoders take by the hundred thousand. */
import { relationRange, type Frontier } from './frontier.js';
import type { Graph } from './graph.js';

/** The same frontier as `stepFrontier` gives; `excluded` are its topics. The arrays are new and the caller's. */
export type FrontierStepper = (frontier: Frontier, relation: number, excluded: readonly number[]) => Frontier;

/**
 * A stepper with its own scratch: 8 bytes an entity of the graph, kept between calls, so make one for a graph and keep
 * it. O(edges of the relation + result · log result).
 */
export function frontierStepper(graph: Graph): FrontierStepper {
  const sums = new Float64Array(graph.numEntities);
  let reached = new Int32Array(1024);
  return ({ entities, counts }, relation, excluded) => {
    let size = 0;
    for (let i = 0; i < entities.length; i++) {
      const paths = counts[i]!;
      const [begin, end] = relationRange(graph, entities[i]!, relation);
      if (size + end - begin > reached.length) reached = grown(reached, size + end - begin);
      for (let edge = begin; edge < end; edge++) {
        const tail = graph.tails[edge]!;
        if (sums[tail] === 0) reached[size++] = tail;
        sums[tail]! += paths;
      }
    }
    if (excluded.some((entity) => sums[entity]! > 0)) size = without(excluded, reached, size, sums);
    const result = { entities: reached.slice(0, size), counts: new Float64Array(size) };
    // The edges of one entity are ascending already.
    if (entities.length > 1) result.entities.sort();
    for (let i = 0; i < size; i++) {
      const entity = result.entities[i]!;
      result.counts[i] = sums[entity]!;
      sums[entity] = 0;
    }
    return result;
  };
}

/** Takes what never comes back out of what was reached; returns how many entities are left. */
function without(excluded: readonly number[], reached: Int32Array, size: number, sums: Float64Array): number {
  let kept = 0;
  for (let i = 0; i < size; i++) {
    const entity = reached[i]!;
    if (excluded.includes(entity)) sums[entity] = 0;
    else reached[kept++] = entity;
  }
  return kept;
}

function grown(array: Int32Array, size: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * size);
  larger.set(array);
  return larger;
}
