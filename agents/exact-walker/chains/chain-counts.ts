/** How many triples each chain of relations was met on: a hash table of typed arrays. */
import { byIds } from '../../../src/kg/graph.js';

/** Chains that are counted at most, a relation: what is met first after so many is not counted. */
const mostChains = 2 ** 21;
const firstCapacity = 2 ** 12;

/** Chains of up to three relations; those behind the last are -1. Memory: 16 bytes a place, half of which are free, at most 64 MB. */
export class ChainCounts {
  readonly #base: number;
  /** 0 is free. */
  #keys = new Float64Array(firstCapacity);
  #counts = new Int32Array(firstCapacity);
  #lastTriple = new Int32Array(firstCapacity);
  #size = 0;
  #triple = 0;

  constructor(numRelations: number) {
    this.#base = numRelations + 1;
  }

  /** Begins a triple, which counts once for each chain. */
  nextTriple(): void {
    this.#triple++;
  }

  add(first: number, second: number, third: number): void {
    const key = ((first + 1) * this.#base + second + 1) * this.#base + third + 1;
    const place = this.#placeOf(key, first, second, third);
    if (this.#keys[place] === 0) {
      if (this.#size === mostChains) return;
      this.#keys[place] = key;
      if (++this.#size * 2 > this.#keys.length) {
        this.#grow();
        return this.add(first, second, third);
      }
    }
    if (this.#lastTriple[place] === this.#triple) return;
    this.#lastTriple[place] = this.#triple;
    this.#counts[place]!++;
  }

  /** The chains of each length that were met most often, shorter lengths first; of equal ones the first by their relations. */
  most(ofLength: readonly number[], longest: number): number[][] {
    const chains = Array.from({ length: longest }, (): { chain: number[]; count: number }[] => []);
    const enough = chains.map((_, i) => this.#leastOf(i + 1, ofLength[i]!));
    for (let place = 0; place < this.#keys.length; place++) {
      const key = this.#keys[place]!;
      if (key === 0) continue;
      const hops = this.#hopsOf(key);
      const count = this.#counts[place]!;
      if (count >= enough[hops - 1]!) chains[hops - 1]!.push({ chain: this.#chainOf(key, hops), count });
    }
    return chains.flatMap((some, i) => {
      some.sort((a, b) => b.count - a.count || byIds(a.chain, b.chain));
      return some.slice(0, ofLength[i]!).map(({ chain }) => chain);
    });
  }

  /** The count that the last of the most frequent chains of a length has: without it all of them would be sorted. */
  #leastOf(hops: number, most: number): number {
    const withCount = new Int32Array(this.#triple + 1);
    for (let place = 0; place < this.#keys.length; place++) {
      const key = this.#keys[place]!;
      if (key !== 0 && this.#hopsOf(key) === hops) withCount[this.#counts[place]!]!++;
    }
    let count = this.#triple;
    for (let left = most - withCount[count]!; count > 1 && left > 0; left -= withCount[--count]!);
    return count;
  }

  #hopsOf(key: number): number {
    if (key % this.#base !== 0) return 3;
    return (key / this.#base) % this.#base !== 0 ? 2 : 1;
  }

  #chainOf(key: number, hops: number): number[] {
    const third = key % this.#base;
    const rest = (key - third) / this.#base;
    const second = rest % this.#base;
    return [(rest - second) / this.#base - 1, second - 1, third - 1].slice(0, hops);
  }

  #placeOf(key: number, first: number, second: number, third: number): number {
    let hash = Math.imul(first + 1, 0x9e3779b1) ^ Math.imul(second + 1, 0x85ebca6b) ^ Math.imul(third + 1, 0xc2b2ae35);
    hash ^= hash >>> 15;
    const mask = this.#keys.length - 1;
    let place = hash & mask;
    while (this.#keys[place] !== 0 && this.#keys[place] !== key) place = (place + 1) & mask;
    return place;
  }

  #grow(): void {
    const [keys, counts, lastTriple] = [this.#keys, this.#counts, this.#lastTriple];
    this.#keys = new Float64Array(2 * keys.length);
    this.#counts = new Int32Array(2 * keys.length);
    this.#lastTriple = new Int32Array(2 * keys.length);
    keys.forEach((key, old) => {
      if (key === 0) return;
      const [first, second = -1, third = -1] = this.#chainOf(key, this.#hopsOf(key));
      const place = this.#placeOf(key, first!, second, third);
      this.#keys[place] = key;
      this.#counts[place] = counts[old]!;
      this.#lastTriple[place] = lastTriple[old]!;
    });
  }
}
