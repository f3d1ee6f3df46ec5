/** Which relation chains a walker answers by, and how often it is right with each. */
import { byIds, type Graph } from '../../src/kg/graph.js';
import type { ChainRecord } from '../../src/run/link-records.js';

/** Counts the best walk, or the best rule, of every query. */
export class ChainCounts {
  readonly #relations = new Map<number, Map<string, { chain: readonly number[]; uses: number; right: number }>>();

  /**
   * @param relation id of what is asked for
   * @param chain relations of the best walk, or of the best rule, without stays
   * @param right whether the entity at its end is a known answer of any split
   */
  add(relation: number, chain: readonly number[], right: boolean): void {
    let chains = this.#relations.get(relation);
    if (!chains) this.#relations.set(relation, (chains = new Map()));
    const key = chain.join();
    const count = chains.get(key) ?? { chain, uses: 0, right: 0 };
    count.uses++;
    if (right) count.right++;
    chains.set(key, count);
  }

  /**
   * The most used chains of every query relation, in the order of ids, the most used first; equal ones by their relations.
   * @param most chains a relation
   */
  rows({ relationNames }: Pick<Graph, 'relationNames'>, most: number): ChainRecord[] {
    const named = (id: number) => relationNames[id]!;
    return [...this.#relations]
      .sort(([a], [b]) => a - b)
      .flatMap(([relation, chains]) =>
        [...chains.values()]
          .sort((a, b) => b.uses - a.uses || byIds(a.chain, b.chain))
          .slice(0, most)
          .map(({ chain, uses, right }) => ({
            ...{ relation: named(relation), chain: chain.map(named), uses, right },
            precision: right / uses,
          })),
      );
  }
}

/**
 * The relations of a walk without those of steps that stay.
 * @param path relation and entity of each step
 */
export function chainOf(path: ArrayLike<number>, stay: number): number[] {
  const chain: number[] = [];
  for (let at = 0; at < path.length; at += 2) if (path[at] !== stay) chain.push(path[at]!);
  return chain;
}
