/** Vectors of the bilinear models, DistMult and ComplEx: a triple's score is the dot product of a query's vector and its tail's. */
import type { TripleColumns } from '../kg/graph.js';
import { filteredRank } from '../metrics/ranks.js';
import { Arena } from '../nn/simd/arena.js';
import { openKernels } from '../nn/simd/kernels.js';
import type { KnownAnswers } from './known-answers.js';

/**
 * `distmult`: Σ h·r·t over real vectors. `complex`: the real part of Σ h·r·conj(t) over complex ones.
 * @source Yang et al. 2015, "Embedding entities and relations for learning and inference in knowledge bases"; Trouillon et
 * al. 2016, "Complex embeddings for simple link prediction"
 */
export type BilinearModel = 'complex' | 'distmult';

/** A trained table. Relations have a vector in each direction: the inverse of r is `numRelations / 2 + r`. */
export interface BilinearTable {
  model: BilinearModel;
  /** Numbers of a row, even; under `complex` the real parts come first, then as many imaginary ones. */
  dim: number;
  numEntities: number;
  /** Inverses included. */
  numRelations: number;
  /** float32 [numEntities, dim], row-major. */
  entities: Float32Array;
  /** float32 [numRelations, dim], row-major. */
  relations: Float32Array;
}

/** Writes head ∘ relation, whose dot product with a tail's row is the score, to `out` from `to` on. */
export function composeQuery(
  { model, dim, entities, relations }: BilinearTable,
  head: number,
  relation: number,
  out: Float32Array | Float64Array,
  to: number,
): void {
  const h = head * dim;
  const r = relation * dim;
  if (model === 'distmult') {
    for (let k = 0; k < dim; k++) out[to + k] = entities[h + k]! * relations[r + k]!;
    return;
  }
  const half = dim / 2;
  for (let k = 0; k < half; k++) {
    const [a, b] = [entities[h + k]!, entities[h + half + k]!];
    const [c, d] = [relations[r + k]!, relations[r + half + k]!];
    out[to + k] = a * c - b * d;
    out[to + half + k] = a * d + b * c;
  }
}

/** Queries whose scores are taken in one call. */
const blockSize = 64;

/** Ranks as those of `linkRanks`: tails at even places, heads at odd ones, the latter asked through inverse relations. */
export function bilinearRanks(table: BilinearTable, triples: TripleColumns, known: KnownAnswers): Float64Array {
  const { dim, numEntities, numRelations } = table;
  const arena = new Arena();
  const kernels = openKernels(arena.memory);
  const entities = arena.float32(numEntities * dim);
  entities.set(table.entities);
  const queries = arena.float32(blockSize * dim);
  const scores = arena.float32(blockSize * numEntities);
  const panel = arena.float32(8 * dim + 32);
  const at = (array: ArrayBufferView) => array.byteOffset;
  const ranks = new Float64Array(triples.heads.length * 2);
  const { heads, relations, tails } = triples;
  for (let begin = 0; begin < ranks.length; begin += blockSize) {
    const size = Math.min(blockSize, ranks.length - begin);
    for (let i = 0; i < size; i++) {
      const t = (begin + i) >> 1;
      const inverse = (begin + i) % 2 === 1;
      const relation = relations[t]! + (inverse ? numRelations / 2 : 0);
      composeQuery(table, inverse ? tails[t]! : heads[t]!, relation, queries, i * dim);
    }
    kernels.matMul(at(queries), dim, 1, at(entities), 1, dim, at(scores), size, dim, numEntities, at(panel), 0);
    for (let i = 0; i < size; i++) {
      const t = (begin + i) >> 1;
      const inverse = (begin + i) % 2 === 1;
      const others = inverse ? known.headsOf(relations[t]!, tails[t]!) : known.tailsOf(heads[t]!, relations[t]!);
      const line = scores.subarray(i * numEntities, (i + 1) * numEntities);
      ranks[begin + i] = filteredRank(line, inverse ? heads[t]! : tails[t]!, others);
    }
  }
  return ranks;
}
