/** Vectors of the bilinear models, DistMult and ComplEx: a triple's score is the dot product of a query's vector and its tail's. */

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

/**
 * Writes head ∘ relation, whose dot product with a tail's row is the triple's score.
 * @param out where the vector's `dim` values begin at `to`
 */
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
