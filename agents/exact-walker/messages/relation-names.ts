/**
 * Weights of relations that follow from what relations are called: those of a relation are components of its name's text vector, and a one,
 * times a matrix that all relations share; one matrix for relations, one for their inverses. So a relation that was never seen has
 * weights, too.
 */
import type { Tensor } from '../../../checkpoints/safetensors.js';
import type { StateEncoder } from '../../../src/encoder/state-encoder.js';
import type { Graph } from '../../../src/kg/graph.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { HostParameters } from '../../../src/tensor/host/host-parameters.js';
import type { Tf } from '../../../src/tensor/ops.js';
import type { StoredTensors } from '../../../src/tensor/parameters.js';
import { principalComponents } from '../../../src/tensor/principal-components.js';
import { type EncodeNameOptions, encodeNameRows, relationTexts } from '../../walker/vectors.js';
import { namedWeights, ofRelations } from './message-weights.js';

/** Text vectors of the names of a graph's relations, without inverses: float32 [relations, dim]. */
export interface NameVectors {
  rows: Float32Array;
  dim: number;
}

/** What is encoded of a graph. */
export const plainRelationTexts = (graph: Graph): string[] => relationTexts(graph).slice(0, graph.numRelations / 2);

/** Encodes them. */
export async function nameVectors(
  encoder: StateEncoder,
  graph: Graph,
  options: EncodeNameOptions,
): Promise<NameVectors> {
  const rows = await encodeNameRows(encoder, plainRelationTexts(graph), 'encode relations', options);
  return { rows, dim: encoder.dim };
}

/** Names as weights read them, and how those of other relations come to be so. */
export interface RelationNames {
  /** Leading components, float32 [relations, kept]. */
  rows: Float32Array;
  /** float32 [dim]: of the vectors. */
  mean: Float32Array;
  /** float32 [dim, kept]. */
  basis: Float32Array;
}

/**
 * @param known which relations the components are those of, by plain id
 * @param most components
 */
export async function nameComponents(
  tf: Tf,
  vectors: NameVectors,
  known: Int32Array,
  most: number,
): Promise<RelationNames> {
  const { rows, dim } = vectors;
  const rowsOf = (begin: number, end: number) => {
    const block = new Float32Array((end - begin) * dim);
    for (let i = begin; i < end; i++) {
      block.set(rows.subarray(known[i]! * dim, (known[i]! + 1) * dim), (i - begin) * dim);
    }
    return block;
  };
  const { mean, basis } = await principalComponents(tf, rowsOf, known.length, dim, most);
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

/** As a checkpoint keeps them. */
export function nameTensors({ rows, mean, basis }: RelationNames): Record<string, Tensor> {
  const kept = basis.length / mean.length;
  return {
    'names.rows': { shape: [rows.length / kept, kept], data: rows },
    'names.mean': { shape: [mean.length], data: mean },
    'names.basis': { shape: [mean.length, kept], data: basis },
  };
}

/**
 * Names as they were trained with.
 * @param vectors of the relations of another graph, by the same encoder
 * @throws WorkbenchError `data` where a tensor is missing, or vectors are of another width
 */
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
    hint: 'Ask with the encoder of the run.',
  });

/** Trained weights, and those of a network that follow from them. */
export class NamedWeights {
  /** What is trained. */
  readonly parameters: HostParameters;
  readonly #network: HostParameters;
  readonly #relations: number;
  /** Numbers that weights read of a name. */
  readonly #width: number;
  /** float32 [relations, width]: components, and a one. */
  readonly #inputs: Float32Array;
  readonly #panel: Float32Array;

  /**
   * @param network whose inverse relations stand behind all others, in their order
   * @throws WorkbenchError `data` where names are of another number of relations
   */
  constructor(network: HostParameters, numRelations: number, hops: number, names: RelationNames, seed: number) {
    const { arena, kernels } = network;
    const { rows, mean, basis } = names;
    const kept = basis.length / mean.length;
    this.#network = network;
    this.#relations = numRelations / 2;
    if (rows.length !== this.#relations * kept) throw unfit(`${this.#relations} names`, String(rows.length / kept));
    this.#width = kept + 1;
    this.parameters = new HostParameters(namedWeights(this.#width, hops, seed), arena, kernels);
    this.#inputs = arena.float32(this.#relations * this.#width + 16);
    this.#panel = arena.float32(8 * Math.max(this.#relations, this.#width) + 32);
    for (let row = 0; row < this.#relations; row++) {
      this.#inputs.set(rows.subarray(row * kept, (row + 1) * kept), row * this.#width);
      this.#inputs[(row + 1) * this.#width - 1] = 1;
    }
    this.spread();
  }

  /** From what is trained to the network. */
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

  /** From the gradients of the network to those of what is trained, which are written. */
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

  /** Relations, then inverses: where in bytes the matrix begins, and where the rows that follow from it. */
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
