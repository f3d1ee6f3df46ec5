/** Relation sequences that exist from a topic: what the grammar of proposals is made of. */
import { frontierRelations, initialFrontier, stepFrontier, type Frontier } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';

/** Which chains are looked for. */
export interface ChainBounds {
  topics: readonly number[];
  /** Entities that never come back. */
  excluded: readonly number[];
  /** Lengths that count. */
  shortest: number;
  longest: number;
  /** Most chains, and most prefixes of one length that are followed. */
  most: number;
  /** How well a relation suits the question: decides what stays where there are more. */
  likeness: (relation: number) => number;
}

/** The chains that exist, or those that were kept of them. */
export interface ChainSpace {
  /** Ascending by relation ids. */
  chains: number[][];
  /** Some were left out for `most`. */
  cut: boolean;
}

interface Prefix {
  chain: readonly number[];
  frontier: Frontier;
  likeness: number;
}

/** Walks frontiers from the topics, one length after the other. O(prefixes · edges of their frontiers). */
export function reachableChains(graph: Graph, bounds: ChainBounds): ChainSpace {
  const { topics, excluded } = bounds;
  let cut = false;
  const within = <Rated extends { likeness: number }>(rated: Rated[]) => {
    if (rated.length <= bounds.most) return rated;
    cut = true;
    return rated.sort((a, b) => b.likeness - a.likeness).slice(0, bounds.most);
  };
  let found: { chain: number[]; likeness: number }[] = [];
  let prefixes: Prefix[] = [{ chain: [], frontier: initialFrontier(topics), likeness: 0 }];
  for (let length = 1; length <= bounds.longest; length++) {
    const longer = within(
      prefixes.flatMap((prefix) =>
        Array.from(frontierRelations(graph, prefix.frontier, excluded), (relation) => ({
          ...{ prefix, relation },
          chain: [...prefix.chain, relation],
          // The mean over the chain.
          likeness: (prefix.likeness * (length - 1) + bounds.likeness(relation)) / length,
        })),
      ),
    );
    if (length >= bounds.shortest) found = [...found, ...longer];
    if (length === bounds.longest) break;
    prefixes = longer.map(({ prefix, relation, chain, likeness }) => ({
      ...{ chain, likeness },
      frontier: stepFrontier(graph, prefix.frontier, relation, excluded),
    }));
  }
  return {
    chains: within(found)
      .map(({ chain }) => chain)
      .sort(byIds),
    cut,
  };
}

/** Every sequence of the relations, whether it leads anywhere or not. */
export function allChains(relations: readonly number[], shortest: number, longest: number): number[][] {
  const chains: number[][] = [];
  let prefixes: number[][] = [[]];
  for (let length = 1; length <= longest; length++) {
    prefixes = prefixes.flatMap((prefix) => relations.map((relation) => [...prefix, relation]));
    if (length >= shortest) chains.push(...prefixes);
  }
  return chains.sort(byIds);
}

function byIds(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((relation, i) => relation !== b[i]);
  return at < 0 ? a.length - b.length : a[at]! - (b[at] ?? -1);
}
