/** The entities that a batch of queries is compared with. */
import type { Rng } from '../../src/run/seeds.js';
import type { QueryGroups } from './query-groups.js';

/** Candidates of the batch that was drawn last. */
export interface Candidates {
  /** int32 [count]: entities, each once. */
  readonly ids: Int32Array;
  readonly count: number;
  /** The most that a batch has. */
  readonly most: number;
  /** Draws those of a batch: all answers of its queries, then entities by chance. */
  draw(queries: Int32Array, rng: Rng): void;
  /** Where the answers of a query are in `ids`: int32, overwritten by the next call. */
  placesOf(query: number): Int32Array;
}

/**
 * @param groups all training queries
 * @param ids makes the array of ids, in the memory of kernels
 */
export function createCandidates(
  groups: QueryGroups,
  { numEntities, negatives, batchSize }: { numEntities: number; negatives: number; batchSize: number },
  allocate: (length: number) => Int32Array,
): Candidates {
  const { offsets, answers } = groups;
  const sizes = Int32Array.from({ length: offsets.length - 1 }, (_, q) => offsets[q + 1]! - offsets[q]!).sort();
  const all = negatives >= numEntities;
  const mostAnswers = sizes.subarray(-batchSize).reduce((sum, size) => sum + size, 0);
  const most = all ? numEntities : Math.min(numEntities, negatives + mostAnswers);
  const ids = allocate(most);
  const places = new Int32Array(sizes.at(-1) ?? 0);
  const placeOf = new Int32Array(numEntities).fill(-1);
  let count = 0;
  const add = (entity: number) => {
    if (placeOf[entity]! >= 0) return;
    placeOf[entity] = count;
    ids[count++] = entity;
  };
  if (all) for (let entity = 0; entity < numEntities; entity++) add(entity);
  return {
    ids,
    most,
    get count() {
      return count;
    },
    draw(queries, rng) {
      if (all) return;
      for (let c = 0; c < count; c++) placeOf[ids[c]!] = -1;
      count = 0;
      for (const q of queries) for (let a = offsets[q]!; a < offsets[q + 1]!; a++) add(answers[a]!);
      for (let draw = 0; draw < negatives; draw++) add(rng.integer(numEntities));
    },
    placesOf(q) {
      const size = offsets[q + 1]! - offsets[q]!;
      for (let a = 0; a < size; a++) places[a] = placeOf[answers[offsets[q]! + a]!]!;
      return places.subarray(0, size);
    },
  };
}
