/** The chains that lead somewhere from a question's topics, and how well each answers: all that training by chains knows of the graph. */
import type { FrontierNode } from '../../../envs/relation-walk/frontier-trie.js';
import type { GoldSet } from '../../../envs/relation-walk/rules.js';

/** Chains tried on one question: graphs with thousands of relations have no end of them. */
const mostTried = 20_000;

/** Feasible chains of a question, shorter ones first. */
export interface FeasibleChains {
  chains: readonly Int32Array[];
  /** float64 [chains]: F1 of the entities that each leads to against the answers. */
  f1: Float64Array;
  /** Whether bounds left out some. */
  cut: boolean;
}

/**
 * Walks the trie of relations from `root`. Gold chains are not read.
 * @param most.horizon relations of a chain at most
 * @param most.widest entities of a set that chains go on from
 * @param most.length chains of this many relations alone; undefined: of any
 */
export function feasibleChains(
  root: FrontierNode,
  gold: GoldSet,
  { horizon, widest, length }: { horizon: number; widest: number; length?: number | undefined },
): FeasibleChains {
  const chains: Int32Array[] = [];
  const f1: number[] = [];
  const end = Math.min(length ?? horizon, horizon);
  let cut = false;
  let tried = 0;
  let level = [root];
  for (let hop = 1; hop <= end && level.length > 0 && tried <= mostTried; hop++) {
    const longer: FrontierNode[] = [];
    for (const node of level) {
      node.countTails(gold.entities, (relation, size, right) => {
        if (++tried > mostTried) return;
        if (length === undefined || hop === end) {
          const chain = new Int32Array(hop);
          chain.set(node.relations);
          chain[hop - 1] = relation;
          chains.push(chain);
          f1.push((2 * right) / (size + gold.size));
        }
        if (hop === end) return;
        // What chains go on from alone is computed.
        if (size <= widest) longer.push(node.follow(relation));
        else cut = true;
      });
    }
    level = longer;
  }
  return { chains, f1: Float64Array.from(f1), cut: cut || tried > mostTried };
}
