/** Relation vectors of `message-network.ts` from free parameters: w^l_q = B^l_q + A^l_q z_r for a query relation r. */
import type { SimdParameters } from '../../../src/nn/simd/tape.js';
import { features, type MessageSizes, relationDim } from './message-weights.js';

/** What of a query depends on its relation. */
export interface QueryVectors {
  /** float32 [channels]: state of the head. */
  start: Float32Array;
  /** float32 [features]: weights of φ. */
  direct: Float32Array;
  /** float32 [channels]: added to the hidden units. */
  bias: Float32Array;
}

/** Source of the vectors of a query. */
export interface RelationWeights {
  /** Computes the vectors for queries of a relation; they hold until the next call. */
  ask(relation: number): void;
  readonly vectors: QueryVectors;
  /** Relation vectors of a hop, float32 [relations, channels]. */
  w(hop: number): Float32Array;
  /** Gradients, added to by the network and used up below. */
  readonly grads: QueryVectors;
  /** float32 [relations, channels]: of the hop at hand. */
  readonly ofW: Float32Array;
  /** Backward of the vectors of a hop, from `ofW`, which is 0 then. */
  hopBack(hop: number): void;
  /** Backward of the others, from `grads`. */
  back(): void;
}

/** Free parameters of each relation. */
export class OwnWeights implements RelationWeights {
  readonly ofW: Float32Array;
  readonly #parameters: SimdParameters;
  readonly #w: Float32Array[];
  readonly #count: number;
  readonly #d: number;
  readonly #bias: Float32Array;
  readonly #ofBias: Float32Array;
  #relation = 0;

  constructor(parameters: SimdParameters, numRelations: number, { hops, channels }: MessageSizes) {
    this.#parameters = parameters;
    this.#d = channels;
    this.#count = numRelations * channels;
    const { arena } = parameters;
    this.#w = Array.from({ length: hops }, () => arena.float32(this.#count + 16));
    this.ofW = arena.float32(this.#count + 16);
    this.#bias = arena.float32(channels);
    this.#ofBias = arena.float32(channels);
  }

  ask(relation: number): void {
    this.#relation = relation;
    const { kernels, executor } = this.#parameters;
    const z = this.#row('value', 'asked', relationDim);
    this.#w.forEach((w, hop) => {
      const [A, B] = [this.#parameters.value(`A.${hop}`), this.#parameters.value(`B.${hop}`)];
      kernels.messageWeights(A.byteOffset, B.byteOffset, z.byteOffset, this.#count, relationDim, w.byteOffset);
    });
    executor.matMul('ab', z, this.#parameters.value('V.asked'), this.#bias, 1, relationDim, this.#d);
  }

  get vectors(): QueryVectors {
    return this.#vectors('value', this.#bias);
  }

  get grads(): QueryVectors {
    return this.#vectors('grad', this.#ofBias);
  }

  w(hop: number): Float32Array {
    return this.#w[hop]!;
  }

  hopBack(hop: number): void {
    const { kernels } = this.#parameters;
    const [A, z] = [this.#parameters.value(`A.${hop}`), this.#row('value', 'asked', relationDim)];
    const [ofA, ofB] = [this.#parameters.grad(`A.${hop}`), this.#parameters.grad(`B.${hop}`)];
    kernels.messageWeightGrads(
      ...([this.ofW.byteOffset, A.byteOffset, z.byteOffset, this.#count, relationDim, ofA.byteOffset] as const),
      ...([ofB.byteOffset, this.#row('grad', 'asked', relationDim).byteOffset] as const),
    );
  }

  back(): void {
    const { executor } = this.#parameters;
    const [z, ofZ] = [this.#row('value', 'asked', relationDim), this.#row('grad', 'asked', relationDim)];
    executor.matMul('aTb', z, this.#ofBias, this.#parameters.grad('V.asked'), relationDim, 1, this.#d, true);
    executor.matMul('abT', this.#ofBias, this.#parameters.value('V.asked'), ofZ, 1, this.#d, relationDim, true);
    this.#ofBias.fill(0);
  }

  #vectors(what: 'value' | 'grad', bias: Float32Array): QueryVectors {
    return { start: this.#row(what, 'start', this.#d), direct: this.#row(what, 'direct', features), bias };
  }

  /** Row of the query relation. */
  #row(what: 'value' | 'grad', name: string, width: number): Float32Array {
    return this.#parameters[what](name).subarray(this.#relation * width, (this.#relation + 1) * width);
  }
}
