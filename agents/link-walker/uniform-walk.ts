/** Where a walk at random ends: what a score means when nothing is known. */
import type { LinkLists } from './beam-levels.js';

/** Scores that read no relation. */
export interface UniformWalk {
  readonly name: 'random';
  readonly numEntities: number;
  /** Log-probability that a walk from `head` ends at each entity, -Infinity where none does. */
  scoreTails(head: number, relation: number, out: Float64Array): void;
}

/** Uniform over the out-edges and staying, at every step; exact, O(edges met) a query. */
export function uniformWalk({ offsets, tails }: LinkLists, horizon: number): UniformWalk {
  const numEntities = offsets.length - 1;
  let now = new Float64Array(numEntities);
  let next = new Float64Array(numEntities);
  return {
    name: 'random',
    numEntities,
    scoreTails(head, _relation, out) {
      now.fill(0);
      now[head] = 1;
      for (let step = 0; step < horizon; step++) {
        next.fill(0);
        for (let entity = 0; entity < numEntities; entity++) {
          if (now[entity] === 0) continue;
          const [begin, end] = [offsets[entity]!, offsets[entity + 1]!];
          const each = now[entity]! / (end - begin + 1);
          next[entity]! += each;
          for (let edge = begin; edge < end; edge++) next[tails[edge]!]! += each;
        }
        [now, next] = [next, now];
      }
      for (let entity = 0; entity < numEntities; entity++) out[entity] = Math.log(now[entity]!);
    },
  };
}
