/**
 * Dense layers on SIMD kernels: for small networks the calls of a tensor library cost more than the
 * computation. y = W_n · tanh(… tanh(W_1 · x + b_1) …) + b_n, in float32.
 */
import type { Rng } from '../../run/seeds.js';
import { orthogonalValues, type HostTensor } from '../parameters.js';
import type { HostParameters } from './host-parameters.js';

/** One layer: its weights are a parameter of this name, [inputs, width], its bias `NAME.bias`. */
export interface DenseLayer {
  name: string;
  width: number;
  biased: boolean;
}

/** Orthogonal weights and zero biases by name. @param rngOf generator of a layer's start; zeros without it */
export function denseStarts(
  inputs: number,
  layers: readonly (DenseLayer & { gain: number })[],
  rngOf?: (name: string) => Rng,
): Record<string, HostTensor> {
  const tensors: Record<string, HostTensor> = {};
  let rows = inputs;
  for (const { name, width, biased, gain } of layers) {
    const data = rngOf ? orthogonalValues(rngOf(name), rows, width, gain) : new Float32Array(rows * width);
    tensors[name] = { shape: [rows, width], data };
    if (biased) tensors[`${name}.bias`] = { shape: [width], data: new Float32Array(width) };
    rows = width;
  }
  return tensors;
}

/** Memory for as many rows as the largest batch had; the first array is the input, the last the output. */
interface Scratch {
  rows: number;
  /** float32 [rows, width]: what each layer gave. */
  values: Float32Array[];
  /** The same of the gradients by it. */
  grads: Float32Array[];
  /** For strips of products. */
  panel: Float32Array;
}

/** Outputs of a row do not depend on the other rows: sums run in one order. */
export class HostLayers {
  readonly #widths: readonly number[];
  #scratch: Scratch | undefined;

  /** @param parameters that hold the layers' weights, besides others */
  constructor(
    readonly parameters: HostParameters,
    inputs: number,
    readonly layers: readonly DenseLayer[],
  ) {
    this.#widths = [inputs, ...layers.map(({ width }) => width)];
  }

  /** float32 [rows, inputs]: for the caller to fill before `compute`; what is left there is of an earlier batch. */
  input(rows: number): Float32Array {
    return this.#roomFor(rows).values[0]!.subarray(0, rows * this.#widths[0]!);
  }

  /** float32 [rows, outputs] of the input; changes with the next call. */
  compute(rows: number): Float32Array {
    const { kernels } = this.parameters;
    const { values, panel } = this.#roomFor(rows);
    this.layers.forEach(({ name, width, biased }, i) => {
      const [below, out, inputs] = [values[i]!, values[i + 1]!, this.#widths[i]!];
      kernels.matMul(
        ...([below.byteOffset, inputs, 1] as const),
        ...([this.parameters.value(name).byteOffset, width, 1] as const),
        ...([out.byteOffset, rows, inputs, width, panel.byteOffset, 0] as const),
      );
      if (biased) {
        kernels.addBias(out.byteOffset, this.parameters.value(`${name}.bias`).byteOffset, rows, width);
      }
      if (i < this.layers.length - 1) kernels.tanhAll(out.byteOffset, rows * width);
    });
    return values.at(-1)!.subarray(0, rows * this.#widths.at(-1)!);
  }

  /** float32 [rows, outputs]: for the caller to fill before `back`. */
  outputGrads(rows: number): Float32Array {
    return this.#roomFor(rows)
      .grads.at(-1)!
      .subarray(0, rows * this.#widths.at(-1)!);
  }

  /**
   * Backward of the latest `compute`, from the gradients in `outputGrads`: adds to those of the weights.
   * @returns float32 [rows, inputs], the gradients by the input, where they are wanted
   */
  back(rows: number, ofInput: boolean): Float32Array | undefined {
    const { kernels } = this.parameters;
    const { values, grads, panel } = this.#scratch!;
    for (let i = this.layers.length - 1; i >= 0; i--) {
      const { name, width, biased } = this.layers[i]!;
      const [from, inputs] = [grads[i + 1]!, this.#widths[i]!];
      if (i < this.layers.length - 1) kernels.tanhGrad(from.byteOffset, values[i + 1]!.byteOffset, rows * width);
      if (biased) {
        kernels.columnSums(from.byteOffset, rows, width, panel.byteOffset);
        const bias = this.parameters.grad(`${name}.bias`);
        for (let j = 0; j < width; j++) bias[j]! += panel[j]!;
      }
      kernels.matMul(
        ...([values[i]!.byteOffset, 1, inputs] as const),
        ...([from.byteOffset, width, 1] as const),
        ...([this.parameters.grad(name).byteOffset, inputs, rows, width, panel.byteOffset, 1] as const),
      );
      if (i === 0 && !ofInput) return undefined;
      kernels.matMul(
        ...([from.byteOffset, width, 1] as const),
        ...([this.parameters.value(name).byteOffset, 1, width] as const),
        ...([grads[i]!.byteOffset, rows, width, inputs, panel.byteOffset, 0] as const),
      );
    }
    return grads[0]!.subarray(0, rows * this.#widths[0]!);
  }

  #roomFor(rows: number): Scratch {
    if (this.#scratch && this.#scratch.rows >= rows) return this.#scratch;
    const { arena } = this.parameters;
    const room = Math.ceil(rows * 1.25);
    // Kernels go over whole vectors: up to 3 values behind the end.
    const arrays = () => this.#widths.map((width) => arena.float32(room * width + 4));
    const panel = arena.float32(8 * Math.max(room, ...this.#widths) + 32);
    this.#scratch = { rows: room, values: arrays(), grads: arrays(), panel };
    return this.#scratch;
  }
}
