/**
 * A dense network on the host whose input is rows of frozen tables side by side: a small one takes longer to be told to a
 * tensor library than to be computed.
 *
 *   x₁ = tanh(Σₛ tableₛ[idₛ] · W₀ₛ + b₀),  x₂ = tanh(x₁ · W₁ + b₁) …,  out = x · W + b
 */
import { WorkbenchError } from '../../run/errors.js';
import type { Rng } from '../../run/seeds.js';
import type { Arena } from '../../simd/arena.js';
import type { Kernels } from '../../simd/kernels.js';
import { orthogonalValues, type HostTensor } from '../parameters.js';
import { HostParameters, type HostOutputs } from './host-parameters.js';
import { RowProducts, type FrozenTable } from './row-products.js';

/** What a network looks like. */
export interface HostMlpShape {
  /** One table a part of the input; several parts may name the same one. */
  tables: readonly FrozenTable[];
  /** Units of the hidden layers: at least one layer, multiples of 4. */
  hidden: readonly number[];
  /** Values a row. */
  outputs: number;
  /** Gain of the last layer's start; the others' is √2. */
  gain: number;
}

/** Memory for as many rows as the largest batch had. */
interface Scratch {
  rows: number;
  /** float32 [rows, width] of each layer: what it gave. */
  layers: Float32Array[];
  /** float32 [rows, width] of each layer: slopes of that. */
  slopes: Float32Array[];
  /** For strips of products. */
  panel: Float32Array;
}

/** Orthogonal starts, zero biases. The outputs of a row do not depend on the rows beside it. */
export class HostMlp {
  readonly parameters: HostParameters;
  readonly #widths: readonly number[];
  readonly #longest: number;
  readonly #inputs: readonly RowProducts[];
  #scratch: Scratch | undefined;
  /** Counts computations: the layers hold the latest one. */
  #computed = 0;

  /**
   * @param rngOf the generator of each parameter's start, by its name
   * @param arena where the tables lie
   * @param kernels those of the arena; default: SIMD kernels alone
   * @throws WorkbenchError `usage` for hidden layers that are not multiples of 4; `native` without WebAssembly SIMD
   */
  constructor(
    { tables, hidden, outputs, gain }: HostMlpShape,
    rngOf: (name: string) => Rng,
    arena: Arena,
    kernels?: Kernels,
  ) {
    if (hidden.length === 0 || hidden.some((units) => units % 4 !== 0)) {
      throw new WorkbenchError(
        'usage',
        `expected hidden layers of a multiple of 4, got ${hidden.join(', ') || 'none'}, at HostMlp`,
      );
    }
    this.#widths = [...hidden, outputs];
    const dims = tables.map(({ dim }) => dim);
    const inputDim = dims.reduce((sum, dim) => sum + dim, 0);
    this.#longest = Math.max(...this.#widths, ...dims);
    this.parameters = new HostParameters(initial([inputDim, ...this.#widths], gain, rngOf), arena, kernels);
    let begin = 0;
    this.#inputs = tables.map((table) => {
      const part = new RowProducts(this.parameters, table, begin, hidden[0]!);
      begin += table.dim * hidden[0]!;
      return part;
    });
  }

  /** @param ids rows of each table, of one length, which is the number of rows computed */
  compute(ids: readonly Int32Array[]): HostOutputs {
    const { kernels } = this.parameters;
    const rows = ids[0]!.length;
    const { layers, panel } = this.#roomFor(rows);
    const mine = ++this.#computed;
    const { version } = this.parameters;
    const current = () => mine === this.#computed && version === this.parameters.version;
    this.#widths.forEach((width, layer) => {
      const out = layers[layer]!;
      if (layer === 0) {
        out.fill(0, 0, rows * width);
        this.#inputs.forEach((input, part) => input.addTo(out, ids[part]!, panel));
      } else {
        const below = this.#widths[layer - 1]!;
        kernels.matMul(
          ...([layers[layer - 1]!.byteOffset, below, 1] as const),
          ...([this.parameters.value(`${layer}`).byteOffset, width, 1] as const),
          ...([out.byteOffset, rows, below, width] as const),
          panel.byteOffset,
          0,
        );
      }
      kernels.addBias(out.byteOffset, this.parameters.value(`${layer}.bias`).byteOffset, rows, width);
      if (layer < this.#widths.length - 1) kernels.tanhAll(out.byteOffset, rows * width);
    });
    return {
      current,
      values: layers.at(-1)!.subarray(0, rows * this.#widths.at(-1)!),
      back: (slope) => {
        if (!current()) {
          throw new WorkbenchError(
            'failure',
            'expected the latest computation, got an earlier one, at the way back of HostMlp',
          );
        }
        this.#back(slope, rows);
      },
    };
  }

  #back(slope: Float32Array, rows: number): void {
    const { kernels } = this.parameters;
    const { layers, slopes, panel } = this.#scratch!;
    const top = this.#widths.length - 1;
    slopes[top]!.set(slope);
    for (let layer = top; layer >= 0; layer--) {
      const width = this.#widths[layer]!;
      const from = slopes[layer]!;
      if (layer < top) kernels.tanhSlope(from.byteOffset, layers[layer]!.byteOffset, rows * width);
      kernels.columnSums(from.byteOffset, rows, width, panel.byteOffset);
      const bias = this.parameters.slope(`${layer}.bias`);
      for (let j = 0; j < width; j++) bias[j]! += panel[j]!;
      if (layer === 0) break;
      const below = this.#widths[layer - 1]!;
      kernels.matMul(
        ...([layers[layer - 1]!.byteOffset, 1, below] as const),
        ...([from.byteOffset, width, 1] as const),
        ...([this.parameters.slope(`${layer}`).byteOffset, below, rows, width] as const),
        panel.byteOffset,
        1,
      );
      kernels.matMul(
        ...([from.byteOffset, width, 1] as const),
        ...([this.parameters.value(`${layer}`).byteOffset, 1, width] as const),
        ...([slopes[layer - 1]!.byteOffset, rows, width, below] as const),
        panel.byteOffset,
        0,
      );
    }
    for (const input of this.#inputs) input.back(slopes[0]!, rows, panel);
  }

  #roomFor(rows: number): Scratch {
    if (this.#scratch && this.#scratch.rows >= rows) return this.#scratch;
    const { arena } = this.parameters;
    const room = Math.ceil(rows * 1.25);
    // Kernels go over whole vectors: up to 3 values behind the end.
    const arrays = () => this.#widths.map((width) => arena.float32(room * width + 4));
    const panel = arena.float32(8 * Math.max(room, this.#longest) + 32);
    this.#scratch = { rows: room, layers: arrays(), slopes: arrays(), panel };
    return this.#scratch;
  }
}

/** @param widths of the input, of each hidden layer, of the outputs */
function initial(widths: readonly number[], gain: number, rngOf: (name: string) => Rng): Record<string, HostTensor> {
  const tensors: Record<string, HostTensor> = {};
  for (let layer = 0; layer + 1 < widths.length; layer++) {
    const [rows, columns] = [widths[layer]!, widths[layer + 1]!];
    const own = layer + 2 < widths.length ? Math.SQRT2 : gain;
    tensors[`${layer}`] = {
      shape: [rows, columns],
      data: orthogonalValues(rngOf(`${layer}`), rows, columns, own),
    };
    tensors[`${layer}.bias`] = { shape: [columns], data: new Float32Array(columns) };
  }
  return tensors;
}
