/** Trainable parameters by name, initialised from the run's own generator, readable and restorable as host arrays. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { WorkbenchError } from '../run/errors.js';
import type { Rng } from '../run/seeds.js';
import { hostValues, readTensor, type TensorOutputs, type Tf } from './ops.js';

/** Host copy of one parameter: what checkpoints hold. */
export interface HostTensor {
  shape: number[];
  data: Float32Array;
}

/** Tensors by name as a checkpoint gives them back; only float32 ones can be parameters. */
export type StoredTensors = Readonly<Record<string, { shape: readonly number[]; data: unknown }>>;

/** Values of a tensor of this shape. @param said its name in errors @throws WorkbenchError `data` where it is missing or of another shape */
export function storedFloats(
  tensors: StoredTensors,
  name: string,
  shape: readonly number[],
  said: string = name,
): Float32Array {
  const tensor = tensors[name];
  if (tensor?.data instanceof Float32Array && tensor.shape.join() === shape.join()) return tensor.data;
  const got = tensor ? `[${tensor.shape.join()}]` : 'none';
  throw new WorkbenchError('data', `expected float32 ${said} of shape [${shape.join()}], got ${got}`, {
    hint: 'The weights belong to another graph or to other settings; use the configuration they were trained with.',
  });
}

/** Named tf variables in insertion order. Owned by the set: `dispose` frees them. */
export class ParameterSet {
  readonly #variables = new Map<string, tfTypes.Variable>();

  /** @param prefix goes before every name outside, so that several networks can be kept in one file */
  constructor(
    readonly tf: Tf,
    readonly prefix = '',
  ) {}

  get backend(): string {
    return this.tf.getBackend();
  }

  get names(): string[] {
    return Array.from(this.#variables.keys(), (name) => `${this.prefix}${name}`);
  }

  get variables(): tfTypes.Variable[] {
    return [...this.#variables.values()];
  }

  get size(): number {
    return this.variables.reduce((sum, variable) => sum + variable.size, 0);
  }

  /** @param data row-major float32 values; copied */
  add(name: string, shape: number[], data: Float32Array): tfTypes.Variable {
    if (this.#variables.has(name))
      throw new WorkbenchError('failure', `expected a new parameter name, got ${name} twice`);
    const initial = this.tf.tensor(data.slice(), shape, 'float32');
    const variable = this.tf.variable(initial, true);
    initial.dispose();
    this.#variables.set(name, variable);
    return variable;
  }

  /** @param name with the prefix, as `names` has it, or without */
  get(name: string): tfTypes.Variable {
    const own = name.startsWith(this.prefix) ? name.slice(this.prefix.length) : name;
    const variable = this.#variables.get(own);
    if (!variable) throw new WorkbenchError('failure', `expected a parameter of the network, got ${name}`);
    return variable;
  }

  /** Host copies of all parameters, independent of later updates. */
  async export(): Promise<Record<string, HostTensor>> {
    const copies = [...this.#variables].map(async ([name, variable]) => {
      const data = await hostValues(this.tf, variable);
      return [`${this.prefix}${name}`, { shape: variable.shape.slice(), data }] as const;
    });
    return Object.fromEntries(await Promise.all(copies));
  }

  /** Replaces every parameter's values. @throws WorkbenchError `data` when a name or shape does not fit */
  import(tensors: StoredTensors): void {
    for (const [name, variable] of this.#variables) {
      const stored = storedFloats(tensors, `${this.prefix}${name}`, variable.shape, `parameter ${name}`);
      const values = this.tf.tensor(stored.slice(), variable.shape, 'float32');
      variable.assign(values);
      values.dispose();
    }
  }

  /** A host copy of what `compute` makes. */
  read(compute: () => TensorOutputs): Promise<Float32Array> {
    return readTensor(this.tf, compute);
  }

  dispose(): void {
    for (const variable of this.#variables.values()) variable.dispose();
    this.#variables.clear();
  }
}

/** Uniform in ±1/√fanIn, float32 [fanIn · fanOut]: the usual start of a dense layer. */
export function uniformFanIn(rng: Rng, fanIn: number, count: number): Float32Array {
  const bound = 1 / Math.sqrt(fanIn);
  return Float32Array.from({ length: count }, () => (2 * rng.uniform() - 1) * bound);
}

/** Uniform in ±√(6 / (rows + columns)), float32 [rows · columns]: Xavier's start. @source Glorot and Bengio 2010, equation 16 */
export function xavierUniform(rng: Rng, rows: number, columns: number): Float32Array {
  const bound = Math.sqrt(6 / (rows + columns));
  return Float32Array.from({ length: rows * columns }, () => (2 * rng.uniform() - 1) * bound);
}

/** Normal with the given standard deviation, float32 [count]. */
export function normalValues(rng: Rng, deviation: number, count: number): Float32Array {
  return Float32Array.from({ length: count }, () => rng.normal() * deviation);
}

/**
 * Orthogonal rows or columns (the fewer) times `gain`, float32 [rows · columns], by Gram-Schmidt on normals.
 * @source Saxe et al. 2014, arXiv:1312.6120
 */
export function orthogonalValues(rng: Rng, rows: number, columns: number, gain: number): Float32Array {
  const count = Math.min(rows, columns);
  const length = Math.max(rows, columns);
  const basis: Float64Array[] = [];
  while (basis.length < count) {
    const vector = Float64Array.from({ length }, () => rng.normal());
    for (const other of basis) {
      let dot = 0;
      for (let i = 0; i < length; i++) dot += vector[i]! * other[i]!;
      for (let i = 0; i < length; i++) vector[i]! -= dot * other[i]!;
    }
    const norm = Math.hypot(...vector);
    if (norm < 1e-6) continue;
    basis.push(vector.map((value) => value / norm));
  }
  const values = new Float32Array(rows * columns);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++)
      values[r * columns + c] = gain * (rows <= columns ? basis[r]![c]! : basis[c]![r]!);
  }
  return values;
}
