/** Real paths out of the topics, a few of each relation sequence: a hub's thousands never stand in memory at once. */
import { canonicalOrder, chainFrontiers, executeChain } from '../../../src/kg/frontier.js';
import type { Graph, Triple } from '../../../src/kg/graph.js';

/** A path as walked. */
export type Path = readonly Triple[];

/**
 * One path of each sequence in turn, then a second of each, until there are `most`: to the sequence's ends in canonical order, one
 * path an end. O(edges of the frontiers) a sequence.
 */
export function realPaths(
  graph: Graph,
  topics: readonly number[],
  excluded: readonly number[],
  chains: readonly (readonly number[])[],
  most: number,
): Path[] {
  const share = Math.max(1, Math.ceil(most / Math.max(chains.length, 1)));
  const perChain = chains.map((chain) => {
    const frontiers = chainFrontiers(graph, topics, chain, excluded);
    const ends = frontiers.length > chain.length ? canonicalOrder(frontiers.at(-1)!) : [];
    return ends.slice(0, share * 4).map((end) => {
      const path: Triple[] = [];
      for (let step = chain.length - 1, tail = end; step >= 0; step--) {
        const to = tail;
        const head = frontiers[step]!.entities.find((entity) => graph.edgeIndex(entity, chain[step]!, to) >= 0)!;
        path.unshift([head, chain[step]!, to]);
        tail = head;
      }
      return path;
    });
  });
  const longest = perChain.reduce((length, paths) => Math.max(length, paths.length), 0);
  const turns = Array.from({ length: longest }, (_, turn) => perChain.flatMap((paths) => paths.slice(turn, turn + 1)));
  return turns.flat().slice(0, most);
}

/** True when the sequences have more than `most` walks in all; counted without listing them. O(edges of the frontiers) a sequence. */
export function hasMorePaths(
  graph: Graph,
  topics: readonly number[],
  excluded: readonly number[],
  chains: readonly (readonly number[])[],
  most: number,
): boolean {
  let paths = 0;
  return chains.some((chain) => {
    for (const count of executeChain(graph, topics, chain, excluded).counts) paths += count;
    return paths > most;
  });
}
