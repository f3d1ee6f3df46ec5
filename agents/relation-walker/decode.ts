/** Greedy and beam decoding of relation sequences. */
import type { FrontierNode } from '../../envs/relation-walk/frontier-trie.js';
import { applyRelation, relationActionMask, type RelationWalkState } from '../../envs/relation-walk/rules.js';
import { segmentLogSoftmax } from '../../src/tensor/categorical.js';

/** A finished walk over relations. */
export interface RankedChain {
  /** The relations and the frontier they lead to. */
  node: FrontierNode;
  /** Log-probability of the walk, its STOP included. */
  logProb: number;
  /** Whether it was ended by STOP; else by the limit. */
  stopped: boolean;
}

/**
 * The `beamWidth` most probable walks that are found, best first. At each step the best extensions go on, finished walks
 * among them: width 1 is greedy. Equal ones keep the order of their beginnings, then of their actions.
 * @param scores of all actions behind the relations walked: float32 [numRelations + 1]
 * @returns empty where nothing is legal at the start
 */
export function decodeChains(
  initial: RelationWalkState,
  scores: (relations: Int32Array) => Float32Array,
  beamWidth: number,
): RankedChain[] {
  interface Walk {
    state: RelationWalkState;
    logProb: number;
    stopped: boolean;
  }
  let beam: Walk[] = [{ state: initial, logProb: 0, stopped: false }];
  if (initial.done) return [];
  while (beam.some(({ state }) => !state.done)) {
    const open: { from: Walk; action: number; logProb: number }[] = [];
    for (const walk of beam) {
      if (walk.state.done) {
        open.push({ from: walk, action: -1, logProb: walk.logProb });
        continue;
      }
      const mask = relationActionMask(walk.state);
      const all = scores(walk.state.node.relations);
      const legal = Int32Array.from(mask.keys()).filter((action) => mask[action] === 1);
      const logProbs = segmentLogSoftmax(
        Float32Array.from(legal, (action) => all[action]!),
        Int32Array.of(0, legal.length),
      );
      legal.forEach((action, i) => open.push({ from: walk, action, logProb: walk.logProb + logProbs[i]! }));
    }
    open.sort((a, b) => b.logProb - a.logProb);
    // Frontiers are computed for what is kept alone.
    beam = open.slice(0, beamWidth).map(({ from, action, logProb }) => {
      if (action < 0) return from;
      const state = applyRelation(from.state, action);
      return { state, logProb, stopped: state.node === from.state.node };
    });
  }
  return beam.map(({ state: { node }, logProb, stopped }) => ({ node, logProb, stopped }));
}
