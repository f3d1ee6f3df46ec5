/** Observations of `kgwalk/LinkQuery-v1`: their fields, and the copying of vectors. */
import type { Rng } from '../../src/run/seeds.js';
import { chosenSample } from '../env.js';
import type { LinkQueryObservation, LinkQueryWorld, QueryVectors } from './world.js';

/** The query that a reset asks for, or one drawn. @throws WorkbenchError `usage` for an index that there is not */
export function chosenQuery({ queries: { heads } }: LinkQueryWorld, asked: unknown, rng: Rng): number {
  return chosenSample(asked, heads.length, () => rng.integer(heads.length));
}

/** Expected action, for errors. */
export const legalActionWords = (length: number) => `an action in [0, ${length}) that the mask allows`;

export function linkQueryObservation(
  { queries, offsets, relations, tails }: LinkQueryWorld,
  query: number,
  path: Int32Array,
  actionMask: Uint8Array,
  vector: Float32Array,
): LinkQueryObservation {
  const head = queries.heads[query]!;
  const current = path.length === 0 ? head : path[path.length - 1]!;
  const begin = offsets[current]!;
  const end = offsets[current + 1]!;
  return {
    head,
    relation: queries.relations[query]!,
    current,
    hop: path.length / 2,
    path,
    relations: relations.subarray(begin, end),
    tails: tails.subarray(begin, end),
    actionMask,
    vector,
  };
}

/**
 * Copies rows of float32 tables. Rows of even width are copied as pairs, twice as fast: a pair read as a float64 is no
 * NaN, whose bits may change on the way, as long as its numbers are finite.
 */
export class RowCopier {
  readonly #from: Float32Array | Float64Array;
  readonly #into: Float32Array | Float64Array;
  readonly #perRow: number;
  readonly #perNumber: number;

  /** @param width numbers a row; `into` must be written at multiples of it */
  constructor(from: Float32Array, into: Float32Array, width: number) {
    const paired = width % 2 === 0 && from.byteOffset % 8 === 0 && into.byteOffset % 8 === 0;
    this.#perNumber = paired ? 2 : 1;
    this.#perRow = width / this.#perNumber;
    this.#from = paired ? pairs(from) : from;
    this.#into = paired ? pairs(into) : into;
  }

  /** Copies row `row` of the table to place `at` (counted in numbers) of the target. */
  copy(row: number, at: number): void {
    const from = this.#from;
    const into = this.#into;
    const end = (row + 1) * this.#perRow;
    let source = row * this.#perRow;
    let target = at / this.#perNumber;
    for (; source + 4 <= end; source += 4, target += 4) {
      into[target] = from[source]!;
      into[target + 1] = from[source + 1]!;
      into[target + 2] = from[source + 2]!;
      into[target + 3] = from[source + 3]!;
    }
    for (; source < end; source++, target++) into[target] = from[source]!;
  }
}

function pairs(values: Float32Array): Float64Array {
  return new Float64Array(values.buffer, values.byteOffset, values.length >> 1);
}

/** Observations share one buffer: allocating an array for each costs more than filling it. */
const slabRows = 64;

/** Makes the vectors of single observations; each stays as it is. */
export class VectorMaker {
  readonly #vectors: QueryVectors;
  readonly #width: number;
  #slab = new ArrayBuffer(0);
  #used = slabRows;
  #entities!: RowCopier;
  #relations!: RowCopier;

  constructor(vectors: QueryVectors) {
    this.#vectors = vectors;
    this.#width = 3 * vectors.dim;
  }

  /** float32 [3 · dim]. */
  of(head: number, relation: number, current: number): Float32Array {
    const { dim, entities, relations } = this.#vectors;
    if (this.#used === slabRows) {
      this.#slab = new ArrayBuffer(slabRows * this.#width * 4);
      const slab = new Float32Array(this.#slab);
      this.#entities = new RowCopier(entities, slab, dim);
      this.#relations = new RowCopier(relations, slab, dim);
      this.#used = 0;
    }
    const at = this.#used++ * this.#width;
    this.#entities.copy(head, at);
    this.#relations.copy(relation, at + dim);
    this.#entities.copy(current, at + 2 * dim);
    return new Float32Array(this.#slab, at * 4, this.#width);
  }
}

export const noVector = new Float32Array(0);
