/** Trainable parameters on the host: one run of float32 in the memory of the SIMD kernels, with their gradients. */
import { Arena } from '../../simd/arena.js';
import { openKernels } from '../../simd/kernels.js';
import { WorkbenchError } from '../../run/errors.js';
import { type HostTensor, storedFloats, type StoredTensors } from '../parameters.js';

interface Entry {
  shape: number[];
  size: number;
  begin: number;
}

/** Arrays begin where a vector of the processor may: at a multiple of 4 values. */
const padded = (size: number) => Math.ceil(size / 4) * 4;

/** Named parameters in insertion order, in one array each for values and gradients; behind each may stand up to 3 zeros. */
export class HostParameters {
  readonly backend = 'host';
  /** float32 [all parameters]: the values. */
  readonly values: Float32Array;
  /** float32, of the same layout: the gradients of the present step. */
  readonly grads: Float32Array;
  /** Rises with every change of the values: what was computed before is out of date. */
  version = 0;
  readonly #entries = new Map<string, Entry>();

  /**
   * @param initial values by name, row-major; copied
   * @param arena where all of it lies, and what its network computes; networks may share one
   * @param kernels those of the arena
   * @throws WorkbenchError `native` where there is no WebAssembly SIMD
   */
  constructor(
    initial: Readonly<Record<string, HostTensor>>,
    readonly arena = new Arena(),
    readonly kernels = openKernels(arena.memory),
  ) {
    let end = 0;
    for (const [name, { shape, data }] of Object.entries(initial)) {
      this.#entries.set(name, { shape: shape.slice(), size: data.length, begin: end });
      end += padded(data.length);
    }
    this.values = this.arena.float32(end);
    this.grads = this.arena.float32(end);
    for (const [name, { data }] of Object.entries(initial)) this.value(name).set(data);
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  /** Number of trainable scalars. */
  get size(): number {
    return [...this.#entries.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** A parameter's values: a view. */
  value(name: string): Float32Array {
    return this.#view(this.values, name);
  }

  /** A parameter's gradient: a view, added to on the backward pass. */
  grad(name: string): Float32Array {
    return this.#view(this.grads, name);
  }

  /** Copies by name of the values. */
  export(): Promise<Record<string, HostTensor>> {
    return Promise.resolve(this.copies(this.values));
  }

  /** Copies by name of an array of this layout. */
  copies(array: Float32Array): Record<string, HostTensor> {
    return Object.fromEntries(
      [...this.#entries].map(([name, { shape }]) => [
        name,
        { shape: shape.slice(), data: Float32Array.from(this.#view(array, name)) },
      ]),
    );
  }

  /**
   * Replaces an array of this layout; default: the values.
   * @throws WorkbenchError `data` when a name or shape does not fit; nothing has changed then
   */
  import(tensors: StoredTensors, array = this.values): void {
    const stored = Array.from(this.#entries, ([name, { shape }]) => {
      return [name, storedFloats(tensors, name, shape, `parameter ${name}`)] as const;
    });
    for (const [name, values] of stored) this.#view(array, name).set(values);
    this.version++;
  }

  /** Values on the host are there at once. */
  read(compute: () => HostOutputs): Promise<Float32Array> {
    return Promise.resolve(compute().values.slice());
  }

  dispose(): void {
    // Its memory goes when nothing refers to it any more.
  }

  #view(array: Float32Array, name: string): Float32Array {
    const entry = this.#entries.get(name);
    if (!entry) throw new WorkbenchError('failure', `expected a parameter of the network, got ${name}`);
    return array.subarray(entry.begin, entry.begin + entry.size);
  }
}

/** Outputs of a network on the host with the backward pass. */
export interface HostOutputs {
  /** float32; changes with the network's next computation. */
  values: Float32Array;
  /** Adds to the gradients of all parameters. Called at most once, before the network's next computation. */
  back(grad: Float32Array): void;
}
