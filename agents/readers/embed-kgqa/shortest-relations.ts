/** Relations on the shortest paths from a topic, for every entity that it reaches. */
import { BreadthFirst } from '../../../src/kg/breadth-first.js';
import type { Graph } from '../../../src/kg/graph.js';

/** Relations whose subsets are tracked: the subsets of five are the bits of 32. */
export const mostMatched = 5;

/** Bit sets of the subsets of five relations that contain the relation at an index. */
const holding = Array.from({ length: mostMatched }, (_, index) => subsets((subset) => ((subset >> index) & 1) === 1));

/** Those of at least as many relations as the place says. */
const atLeast = Array.from({ length: mostMatched + 1 }, (_, size) =>
  subsets((subset) => [0, 1, 2, 3, 4].filter((index) => (subset >> index) & 1).length >= size),
);

function subsets(of: (subset: number) => boolean): number {
  let bits = 0;
  for (let subset = 0; subset < 32; subset++) if (of(subset)) bits |= 1 << subset;
  return bits;
}

/** Entities that were reached, nearest first, and what is known of their shortest paths; overwritten by the next call. */
export interface Reached {
  /** int32: the topic itself is not among them. */
  entities: Int32Array;
  /** uint8 [entities]: relations on one of the shortest paths that are among the wanted ones, the most of any such path. */
  matches: Uint8Array;
}

/** Breadth-first searches in one graph, whose room is made once. */
export class ShortestRelations {
  readonly #graph: Graph;
  readonly #search: BreadthFirst;
  /** int32 [numEntities]: under `matches` the subsets of wanted relations that shortest paths hold, as bits. */
  readonly #state: Int32Array;
  /** Words of the sets of relations of `onPaths`. */
  readonly #words: number;
  #sets: Int32Array | undefined;

  constructor(graph: Graph) {
    this.#graph = graph;
    this.#search = new BreadthFirst(graph);
    this.#state = new Int32Array(graph.numEntities);
    this.#words = Math.ceil(graph.numRelations / 32);
  }

  /**
   * Everything within so many edges, with |wanted ∩ relations of the path| for its best shortest path.
   * @param wanted at most `mostMatched` relations
   */
  reached(topic: number, hops: number, wanted: readonly number[] = []): Reached {
    const state = this.#state;
    const placeOf = new Int8Array(this.#graph.numRelations).fill(-1);
    wanted.slice(0, mostMatched).forEach((relation, index) => (placeOf[relation] = index));
    state[topic] = 1;
    const search = this.#search;
    search.begin([topic]);
    for (let hop = 0; hop < hops; hop++) {
      search.expand((from, relation, to, isNew) => {
        const index = placeOf[relation]!;
        let sets = state[from]!;
        // Sets without the relation become the ones with it: places of their bits move by 2^place.
        if (index >= 0) sets = (sets & holding[index]!) | ((sets & ~holding[index]!) << (1 << index));
        state[to] = isNew ? sets : state[to]! | sets;
      });
    }
    const entities = Int32Array.from(search.levels.slice(1).flat());
    const matches = new Uint8Array(entities.length);
    for (let at = 0; at < entities.length && wanted.length > 0; at++) {
      let size = mostMatched;
      while (size > 0 && (state[entities[at]!]! & atLeast[size]!) === 0) size--;
      matches[at] = size;
    }
    return { entities, matches };
  }

  /**
   * For each relation the share of the reached targets that have it on some shortest path.
   * @param targets entities, each once
   * @returns float32 [numRelations], zeros where no target is within the hops
   */
  onPaths(topic: number, hops: number, targets: ArrayLike<number>): Float32Array {
    const { numEntities, numRelations } = this.#graph;
    const words = this.#words;
    const sets = (this.#sets ??= new Int32Array(numEntities * words));
    const wanted = new Set(Array.from(targets).filter((target) => target !== topic));
    let left = wanted.size;
    sets.fill(0, topic * words, (topic + 1) * words);
    const search = this.#search;
    search.begin([topic]);
    for (let hop = 0; hop < hops && left > 0; hop++) {
      search.expand((from, relation, to, isNew) => {
        if (isNew) sets.fill(0, to * words, (to + 1) * words);
        if (isNew && wanted.has(to)) left--;
        for (let word = 0; word < words; word++) sets[to * words + word]! |= sets[from * words + word]!;
        sets[to * words + (relation >> 5)]! |= 1 << (relation & 31);
      });
    }
    const shares = new Float32Array(numRelations);
    const found = [...wanted].filter((target) => search.depth[target]! > 1);
    for (let relation = 0; relation < numRelations; relation++) {
      const holders = found.filter((target) => (sets[target * words + (relation >> 5)]! >> (relation & 31)) & 1);
      shares[relation] = holders.length / Math.max(1, found.length);
    }
    return shares;
  }
}
