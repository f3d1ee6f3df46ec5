/** Parameters of a network: values and gradients on the executor that computes it. Also: how initial values are drawn. */
import { WorkbenchError } from '../run/errors.js';
import type { Rng } from '../run/seeds.js';
import type { Executor, Numbers, Rows, Run } from './executor.js';

/** Host copy of one parameter: what checkpoints hold. */
export type HostTensor = { shape: number[]; data: Float32Array };

/** Tensors by name as a checkpoint gives them back; only float32 ones can be parameters. */
export type StoredTensors = Readonly<Record<string, { shape: readonly number[]; data: unknown }>>;

/** Initial values by name. */
export type InitialValues = Readonly<Record<string, HostTensor>>;

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

/** Named parameters in insertion order, with a gradient each. */
export class Parameters<N extends Numbers = Numbers, R extends Rows = Rows> {
  readonly weights: Run<N>;
  /** The gradients of the present step, of the same layout. */
  readonly gradients: Run<N>;
  /** Rises with every change of the values: what was computed before is out of date. */
  version = 0;
  readonly #entries = new Map<string, { shape: number[]; size: number; index: number }>();

  /** @param initial values by name, row-major; copied */
  constructor(
    readonly executor: Executor<N, R>,
    initial: InitialValues,
  ) {
    const all = Object.entries(initial);
    all.forEach(([name, { shape, data }], index) => {
      this.#entries.set(name, { shape: shape.slice(), size: data.length, index });
    });
    this.weights = this.#run();
    this.gradients = this.#run();
    all.forEach(([, { data }], index) => executor.write(this.weights.parts[index]!, data));
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  /** Number of trainable scalars. */
  get size(): number {
    return [...this.#entries.values()].reduce((sum, { size }) => sum + size, 0);
  }

  sizeOf(name: string): number {
    return this.#entry(name).size;
  }

  shapeOf(name: string): readonly number[] {
    return this.#entry(name).shape;
  }

  value(name: string): N {
    return this.weights.parts[this.#entry(name).index]!;
  }

  /** A parameter's gradient, added to on the backward pass. */
  grad(name: string): N {
    return this.gradients.parts[this.#entry(name).index]!;
  }

  /** Zeros of the layout of the values, such as moments of an optimizer. */
  zeros(): Run<N> {
    return this.#run();
  }

  /** Copies by name. @param run of this layout; default: the values */
  async export(run: Run<N> = this.weights): Promise<Record<string, HostTensor>> {
    const copies = Array.from(this.#entries, async ([name, { shape, size, index }]) => {
      const data = await this.executor.read(run.parts[index]!);
      return [name, { shape: shape.slice(), data: data.length === size ? data : data.slice(0, size) }] as const;
    });
    return Object.fromEntries(await Promise.all(copies));
  }

  /**
   * Replaces a run of this layout; default: the values.
   * @throws WorkbenchError `data` when a name or shape does not fit; nothing has changed then
   */
  import(tensors: StoredTensors, run: Run<N> = this.weights): void {
    const stored = Array.from(this.#entries, ([name, { shape }]) =>
      storedFloats(tensors, name, shape, `parameter ${name}`),
    );
    stored.forEach((values, index) => this.executor.write(run.parts[index]!, values));
    this.version++;
  }

  dispose(): void {
    this.executor.free(this.weights);
    this.executor.free(this.gradients);
  }

  #run(): Run<N> {
    return this.executor.run(Array.from(this.#entries.values(), ({ size }) => size));
  }

  #entry(name: string) {
    const entry = this.#entries.get(name);
    if (!entry) throw new WorkbenchError('failure', `expected a parameter of the network, got ${name}`);
    return entry;
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
