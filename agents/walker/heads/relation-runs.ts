/** Edges of states by relation: which relations lead on from where a walk stands, and to which tails each. */
import type { AdjacencyRows } from '../../../src/kg/adjacency.js';
import { hopOf, type StateBatch } from './head.js';

/** Choices at each state of a batch: a relation first, then an entity that it leads to. */
export interface RelationRuns {
  /** int32 [S + 1]: relations at state `s` are `offsets[s] .. offsets[s + 1] - 1`. */
  offsets: Int32Array;
  /** int32 [R]: state of each. */
  stateOf: Int32Array;
  /** int32 [R]: relations, each once a state, ascending; Equal last, where staying is legal. */
  relations: Int32Array;
  /** int32 [N]: place of each action's relation among them. */
  relationOf: Int32Array;
  /** Indexes of the listed relations that lead to several tails, which leaves a choice. */
  forks: Int32Array;
  /** int32 [forks + 1]: tails of fork `f` are `tailOffsets[f] .. tailOffsets[f + 1] - 1`. */
  tailOffsets: Int32Array;
  /** int32 [T]: fork of each tail. */
  forkOf: Int32Array;
  /** int32 [T]: tails in the order of the graph, those that are not listed included. */
  tails: Int32Array;
  /** int32 [N]: place of each action's tail among them, -1 where its relation leads to it alone. */
  tailOf: Int32Array;
}

/**
 * Reads the rows where the states stand: all their legal edges, though the batch may list but some of them.
 * @param equal the relation of staying
 */
export function relationRuns(
  { offsets, relations, tails }: AdjacencyRows,
  batch: StateBatch,
  equal: number,
): RelationRuns {
  const runs = {
    offsets: [0],
    stateOf: [] as number[],
    relations: [] as number[],
    forks: [] as number[],
    tailOffsets: [0],
    forkOf: [] as number[],
    tails: [] as number[],
  };
  const relationOf = new Int32Array(batch.tails.length);
  const tailOf = new Int32Array(batch.tails.length).fill(-1);
  for (let s = 0; s < batch.numStates; s++) {
    const [first, end] = [offsets[batch.current[s]!] ?? 0, offsets[batch.current[s]! + 1] ?? 0];
    let listed = batch.offsets[s]!;
    for (let begin = first, next = begin; begin < end; begin = next) {
      while (next < end && relations[next] === relations[begin]) next++;
      const place = runs.relations.push(relations[begin]!) - 1;
      runs.stateOf.push(s);
      const isFork = next - begin > 1 && listed < batch.offsets[s + 1]! && first + batch.actions[listed]! < next;
      const firstTail = runs.tails.length;
      if (isFork) {
        const fork = runs.forks.push(place) - 1;
        for (let edge = begin; edge < next; edge++) {
          runs.tails.push(tails[edge]!);
          runs.forkOf.push(fork);
        }
        runs.tailOffsets.push(runs.tails.length);
      }
      for (; listed < batch.offsets[s + 1]! && first + batch.actions[listed]! < next; listed++) {
        relationOf[listed] = place;
        if (isFork) tailOf[listed] = firstTail + first + batch.actions[listed]! - begin;
      }
    }
    // Staying ends the list where it is there; from the second step on it is legal though it may not be listed.
    const stays = listed < batch.offsets[s + 1]!;
    if (stays || hopOf(batch, s) > 0) {
      const place = runs.relations.push(equal) - 1;
      runs.stateOf.push(s);
      if (stays) relationOf[listed] = place;
    }
    runs.offsets.push(runs.relations.length);
  }
  return {
    relationOf,
    tailOf,
    offsets: Int32Array.from(runs.offsets),
    stateOf: Int32Array.from(runs.stateOf),
    relations: Int32Array.from(runs.relations),
    forks: Int32Array.from(runs.forks),
    tailOffsets: Int32Array.from(runs.tailOffsets),
    forkOf: Int32Array.from(runs.forkOf),
    tails: Int32Array.from(runs.tails),
  };
}
