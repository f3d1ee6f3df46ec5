/** Number of triples per relation chain: a hash table in typed arrays. */
import { byIds } from '../../../src/kg/graph.js';

/** Maximum chains per relation; later ones are not counted. */
const mostChains = 2 ** 21;
const firstCapacity = 2 ** 12;

/** Maximum number of relations, inverses included, for chains of this length: keys must stay exact integers. */
export const mostRelations = (hops: number): number => Math.floor(Number.MAX_SAFE_INTEGER ** (1 / hops)) - 1;

/** A chain of relation ids and the number of triples that it leads through. */
export type CountedChain = { chain: number[]; count: number };

/**
 * Chains as integer keys: digits are relation id + 1, first relation lowest. Memory: 16 bytes a slot, half of them free, at most 64 MB.
 */
export class ChainCounts {
  readonly #base: number;
  readonly #powers: readonly number[];
  /** 0 marks a free slot. */
  #keys = new Float64Array(firstCapacity);
  #counts = new Int32Array(firstCapacity);
  #lastTriple = new Int32Array(firstCapacity);
  #size = 0;
  #triple = 0;

  /** @param longest relations of the longest chain */
  constructor(numRelations: number, longest: number) {
    this.#base = numRelations + 1;
    this.#powers = Array.from({ length: longest + 1 }, (_, hop) => this.#base ** hop);
  }

  nextTriple(): void {
    this.#triple++;
  }

  /** Key of a chain of `hops` relations with one more appended. */
  longer(key: number, hops: number, relation: number): number {
    return key + (relation + 1) * this.#powers[hops]!;
  }

  add(key: number): void {
    const index = this.#placeOf(key);
    if (this.#keys[index] === 0) {
      if (this.#size === mostChains) return;
      this.#keys[index] = key;
      if (++this.#size * 2 > this.#keys.length) {
        this.#grow();
        return this.add(key);
      }
    }
    if (this.#lastTriple[index] === this.#triple) return;
    this.#lastTriple[index] = this.#triple;
    this.#counts[index]!++;
  }

  /**
   * Most frequent chains of each length, shorter lengths first; ties by relation ids.
   * @param some limit for each length from 1; the last one also holds for longer chains
   */
  most(some: readonly number[], longest: number): CountedChain[] {
    const ofLength = Array.from({ length: longest }, (_, i) => some[i] ?? some.at(-1)!);
    const chains = Array.from({ length: longest }, (): CountedChain[] => []);
    const enough = chains.map((_, i) => this.#leastOf(i + 1, ofLength[i]!));
    for (let index = 0; index < this.#keys.length; index++) {
      const key = this.#keys[index]!;
      if (key === 0) continue;
      const hops = this.#hopsOf(key);
      const count = this.#counts[index]!;
      if (count >= enough[hops - 1]!) chains[hops - 1]!.push({ chain: this.#chainOf(key, hops), count });
    }
    return chains.flatMap((found, i) => {
      found.sort((a, b) => b.count - a.count || byIds(a.chain, b.chain));
      return found.slice(0, ofLength[i]!);
    });
  }

  /** Count of the last chain within the limit, so that not all chains are sorted. */
  #leastOf(hops: number, most: number): number {
    const withCount = new Int32Array(this.#triple + 1);
    for (let index = 0; index < this.#keys.length; index++) {
      const key = this.#keys[index]!;
      if (key !== 0 && this.#hopsOf(key) === hops) withCount[this.#counts[index]!]!++;
    }
    let count = this.#triple;
    for (let left = most - withCount[count]!; count > 1 && left > 0; left -= withCount[--count]!);
    return count;
  }

  #hopsOf(key: number): number {
    let hops = 1;
    while (key >= this.#powers[hops]!) hops++;
    return hops;
  }

  #chainOf(key: number, hops: number): number[] {
    return Array.from({ length: hops }, (_, hop) => (Math.floor(key / this.#powers[hop]!) % this.#base) - 1);
  }

  #placeOf(key: number): number {
    let hash = Math.imul(key | 0, 0x9e3779b1) ^ Math.imul((key / 2 ** 32) | 0, 0x85ebca6b);
    hash ^= hash >>> 15;
    const mask = this.#keys.length - 1;
    let index = hash & mask;
    while (this.#keys[index] !== 0 && this.#keys[index] !== key) index = (index + 1) & mask;
    return index;
  }

  #grow(): void {
    const [keys, counts, lastTriple] = [this.#keys, this.#counts, this.#lastTriple];
    this.#keys = new Float64Array(2 * keys.length);
    this.#counts = new Int32Array(2 * keys.length);
    this.#lastTriple = new Int32Array(2 * keys.length);
    keys.forEach((key, old) => {
      if (key === 0) return;
      const index = this.#placeOf(key);
      this.#keys[index] = key;
      this.#counts[index] = counts[old]!;
      this.#lastTriple[index] = lastTriple[old]!;
    });
  }
}
