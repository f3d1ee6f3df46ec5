/** What the gradients of a batch leave behind for its updates. */

/**
 * The moves of each place of a batch. A place is one true triple: `moves` entities that go along the direction of their
 * distance (its answer first, then its negatives), then the given entity and the relation along the gradient.
 */
export interface BatchMoves {
  /** Entities a place can move: its answer and its negatives. */
  moves: number;
  /** int32 [places, moves] */
  entities: Int32Array;
  /** float64 [places, moves]: derivative of the loss by the distance; 0 leaves the entity where it is. */
  pushes: Float64Array;
  /** float64 [places, moves]: the factor of the direction: `pushes`, under L2 divided by the distance. */
  shares: Float64Array;
  /** int8 [places, moves, dim] signs under L1, else empty. */
  signs: Int8Array;
  /** float32 [places, moves, dim] differences under L2, else empty. */
  differences: Float32Array;
  /** int32 [places] */
  givens: Int32Array;
  /** int32 [places] */
  relations: Int32Array;
  /** float64 [places]: which way the relation was added. */
  relationSigns: Float64Array;
  /** float64 [places, dim]: by the given entity. */
  gradients: Float64Array;
}

/** Room for batches of up to `places` triples. */
export function createBatchMoves(places: number, negatives: number, dim: number, norm: 1 | 2): BatchMoves {
  const moves = negatives + 1;
  return {
    moves,
    entities: new Int32Array(places * moves),
    pushes: new Float64Array(places * moves),
    shares: new Float64Array(places * moves),
    signs: new Int8Array(norm === 1 ? places * moves * dim : 0),
    differences: new Float32Array(norm === 2 ? places * moves * dim : 0),
    givens: new Int32Array(places),
    relations: new Int32Array(places),
    relationSigns: new Float64Array(places),
    gradients: new Float64Array(places * dim),
  };
}
