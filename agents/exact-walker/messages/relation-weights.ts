/** Relation vectors of `message-network.ts` from free parameters: w^l_q = B^l_q + A^l_q z_r for a query relation r. */
import type { SimdParameters } from '../../../src/nn/simd/tape.js';
import { features, type MessageSizes, relationDim } from './message-weights.js';

/** Vectors of a query that depend on its relation alone. */
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
  /** Gradients, to be added to. */
  readonly grads: QueryVectors;
  /** Gradients of `w`, to be added to. */
  ofW(hop: number): Float32Array;
  /** Backward of `ask`: takes the gradients of the queries since to the parameters. The next `ask` of another relation does it too. */
  flush(): void;
}

/** Free parameters of each relation. */
export class OwnWeights implements RelationWeights {
  readonly #parameters: SimdParameters;
  readonly #w: Float32Array[];
  readonly #ofW: Float32Array[];
  readonly #count: number;
  readonly #d: number;
  readonly #bias: Float32Array;
  readonly #ofBias: Float32Array;
  #relation = -1;
  #pending = false;

  constructor(parameters: SimdParameters, numRelations: number, { hops, channels }: MessageSizes) {
    this.#parameters = parameters;
    this.#d = channels;
    this.#count = numRelations * channels;
    const { arena } = parameters;
    const ofHops = () => Array.from({ length: hops }, () => arena.float32(this.#count + 16));
    [this.#w, this.#ofW] = [ofHops(), ofHops()];
    this.#bias = arena.float32(channels);
    this.#ofBias = arena.float32(channels);
  }

  ask(relation: number): void {
    if (relation !== this.#relation) this.flush();
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

  ofW(hop: number): Float32Array {
    this.#pending = true;
    return this.#ofW[hop]!;
  }

  flush(): void {
    if (!this.#pending) return;
    this.#pending = false;
    const { kernels, executor } = this.#parameters;
    const [z, ofZ] = [this.#row('value', 'asked', relationDim), this.#row('grad', 'asked', relationDim)];
    this.#ofW.forEach((ofW, hop) => {
      const A = this.#parameters.value(`A.${hop}`);
      const [ofA, ofB] = [this.#parameters.grad(`A.${hop}`), this.#parameters.grad(`B.${hop}`)];
      kernels.messageWeightGrads(
        ...([ofW.byteOffset, A.byteOffset, z.byteOffset, this.#count, relationDim, ofA.byteOffset] as const),
        ...([ofB.byteOffset, ofZ.byteOffset] as const),
      );
    });
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
