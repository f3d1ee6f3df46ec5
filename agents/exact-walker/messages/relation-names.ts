/**
 * Relation weights computed from relation names: principal components of the name's text vector, and a constant, times a matrix shared by
 * all relations (one for relations, one for inverses). Unseen relations thus have weights, too.
 */
import type { Tensor } from '../../../checkpoints/safetensors.js';
import type { StateEncoder } from '../../../src/encoder/state-encoder.js';
import type { Graph } from '../../../src/kg/graph.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { SimdParameters } from '../../../src/nn/simd/tape.js';
import type { StoredTensors } from '../../../src/nn/parameters.js';
import { principalComponents } from '../../../src/nn/principal-components.js';
import { type EncodeNameOptions, encodeNameRows, relationTexts } from '../../dialogue-walker/vectors.js';
import { type MessageSizes, namedWeights, ofRelations } from './message-weights.js';

/** Text vectors of relation names, without inverses: float32 [relations, dim]. */
export type NameVectors = { rows: Float32Array; dim: number };

/** Texts to encode for a graph. */
const plainRelationTexts = (graph: Graph): string[] => relationTexts(graph).slice(0, graph.numRelations / 2);

/** Text vectors of relation names. */
export async function nameVectors(
  encoder: StateEncoder,
  graph: Graph,
  options: EncodeNameOptions,
): Promise<NameVectors> {
  const rows = await encodeNameRows(encoder, plainRelationTexts(graph), 'encode relations', options);
  return { rows, dim: encoder.dim };
}

/** Name features, and the projection for names of other relations. */
export interface RelationNames {
  /** Leading components, float32 [relations, kept]. */
  rows: Float32Array;
  /** float32 [dim]: mean of the vectors. */
  mean: Float32Array;
  /** float32 [dim, kept]. */
  basis: Float32Array;
}

/** @param known relations used to fit the components, by plain id @param most maximum number of components */
export async function nameComponents(vectors: NameVectors, known: Int32Array, most: number): Promise<RelationNames> {
  const { rows, dim } = vectors;
  const rowsOf = (begin: number, end: number) => {
    const block = new Float32Array((end - begin) * dim);
    for (let i = begin; i < end; i++) {
      block.set(rows.subarray(known[i]! * dim, (known[i]! + 1) * dim), (i - begin) * dim);
    }
    return block;
  };
  const { mean, basis } = principalComponents(rowsOf, known.length, dim, most);
  return { mean, basis, rows: projected(vectors, mean, basis) };
}

function projected({ rows, dim }: NameVectors, mean: Float32Array, basis: Float32Array): Float32Array {
  const kept = basis.length / dim;
  const out = new Float32Array((rows.length / dim) * kept);
  for (let row = 0; row * dim < rows.length; row++) {
    for (let c = 0; c < kept; c++) {
      let sum = 0;
      for (let j = 0; j < dim; j++) sum += (rows[row * dim + j]! - mean[j]!) * basis[j * kept + c]!;
      out[row * kept + c] = sum;
    }
  }
  return out;
}

/** Tensors for a checkpoint. */
export function nameTensors({ rows, mean, basis }: RelationNames): Record<string, Tensor> {
  const kept = basis.length / mean.length;
  return {
    'names.rows': { shape: [rows.length / kept, kept], data: rows },
    'names.mean': { shape: [mean.length], data: mean },
    'names.basis': { shape: [mean.length, kept], data: basis },
  };
}

/** Names used in training. @param vectors of another graph's relations @throws WorkbenchError `data` where they do not fit */
export function keptNames(tensors: StoredTensors, vectors?: NameVectors): RelationNames {
  const [rows, mean, basis] = ['rows', 'mean', 'basis'].map((part) => {
    const data = tensors[`names.${part}`]?.data;
    if (data instanceof Float32Array) return data;
    throw unfit(`float32 names.${part}`, 'none');
  }) as [Float32Array, Float32Array, Float32Array];
  if (vectors === undefined) return { rows, mean, basis };
  if (vectors.dim !== mean.length) throw unfit(`text vectors of ${mean.length} numbers`, String(vectors.dim));
  return { rows: projected(vectors, mean, basis), mean, basis };
}

const unfit = (expected: string, got: string) =>
  new WorkbenchError('data', `expected ${expected}, got ${got}, for weights that follow from the names of relations`, {
    hint: 'Use the encoder of the run.',
  });

/** Trained weights, and the network weights computed from them. */
export class NamedWeights {
  readonly parameters: SimdParameters;
  readonly #network: SimdParameters;
  readonly #relations: number;
  readonly #width: number;
  /** float32 [relations, width]: components and a constant. */
  readonly #inputs: Float32Array;
  readonly #panel: Float32Array;

  /** @param network whose inverse relations follow all others @throws WorkbenchError `data` for another number of names */
  constructor(network: SimdParameters, numRelations: number, sizes: MessageSizes, names: RelationNames, seed: number) {
    const { arena } = network;
    const { rows, mean, basis } = names;
    const kept = basis.length / mean.length;
    this.#network = network;
    this.#relations = numRelations / 2;
    if (rows.length !== this.#relations * kept) throw unfit(`${this.#relations} names`, String(rows.length / kept));
    this.#width = kept + 1;
    this.parameters = new SimdParameters(namedWeights(this.#width, sizes, seed), network.executor);
    this.#inputs = arena.float32(this.#relations * this.#width + 16);
    this.#panel = arena.float32(8 * Math.max(this.#relations, this.#width) + 32);
    for (let row = 0; row < this.#relations; row++) {
      this.#inputs.set(rows.subarray(row * kept, (row + 1) * kept), row * this.#width);
      this.#inputs[(row + 1) * this.#width - 1] = 1;
    }
    this.spread();
  }

  /** Forward: trained parameters to network weights. */
  spread(): void {
    this.#each((name, matrix, rows, width) => {
      const [from, to] = [this.parameters.value(name), this.#network.value(name)];
      this.#network.kernels.matMul(
        ...([this.#inputs.byteOffset, this.#width, 1, from.byteOffset + matrix, width, 1] as const),
        ...([to.byteOffset + rows, this.#relations, this.#width, width, this.#panel.byteOffset, 0] as const),
      );
    });
    for (const name of this.#others()) this.#network.value(name).set(this.parameters.value(name));
    this.#network.version++;
  }

  /** Backward: gradients of the network to gradients of the trained parameters, overwritten. */
  gather(): void {
    this.#each((name, matrix, rows, width) => {
      const [from, to] = [this.#network.grad(name), this.parameters.grad(name)];
      this.#network.kernels.matMul(
        ...([this.#inputs.byteOffset, 1, this.#width, from.byteOffset + rows, width, 1] as const),
        ...([to.byteOffset + matrix, this.#width, this.#relations, width, this.#panel.byteOffset, 0] as const),
      );
    });
    for (const name of this.#others()) this.parameters.grad(name).set(this.#network.grad(name));
  }

  /** Relations, then inverses: byte offsets of the matrix and of the computed rows. */
  #each(make: (name: string, matrix: number, rows: number, width: number) => void): void {
    for (const name of this.parameters.names.filter(ofRelations)) {
      const width = this.#network.value(name).length / (2 * this.#relations);
      for (const direction of [0, 1]) {
        const bytes = direction * width * Float32Array.BYTES_PER_ELEMENT;
        make(name, bytes * this.#width, bytes * this.#relations, width);
      }
    }
  }

  #others(): string[] {
    return this.parameters.names.filter((name) => !ofRelations(name));
  }
}
