/** The tape over SIMD kernels, whose numbers can be read at any time: for networks with custom operations. */
import type { Activation } from '../executor.js';
import { Parameters, type InitialValues } from '../parameters.js';
import { type Gathered, type Outputs, Tape, type Taped } from '../tape.js';
import { SimdExecutor } from './executor.js';

/** A matrix in the memory of SIMD kernels. */
export type HostTaped = Taped<Float32Array>;

/** Parameters in the memory of SIMD kernels. */
export class SimdParameters extends Parameters<Float32Array, Int32Array> {
  declare readonly executor: SimdExecutor;

  /** @param executor whose memory they share; default a new one */
  constructor(initial: InitialValues, executor = new SimdExecutor()) {
    super(executor, initial);
  }

  /** float32 [all parameters]: the weights. */
  get values(): Float32Array {
    return this.weights.whole;
  }

  /** float32, of the same layout. */
  get grads(): Float32Array {
    return this.gradients.whole;
  }

  get arena() {
    return this.executor.arena;
  }

  get kernels() {
    return this.executor.kernels;
  }
}

/** Outputs that are there at once. */
export interface HostOutputs extends Outputs {
  /** float32; changes with the network's next computation. */
  readonly values: Float32Array;
}

/** The operations of a tape, and those that SIMD kernels alone have. */
export class SimdTape extends Tape<Float32Array, Int32Array> {
  declare readonly executor: SimdExecutor;
  declare readonly parameters: SimdParameters;

  /** @param records whether gradients are computed */
  constructor(parameters: SimdParameters, records = true) {
    super(parameters, records);
  }

  /** float32 [length] of any values, until the next `begin`; up to 3 values behind its end may be changed. */
  buffer(length: number): Float32Array {
    return this.scope.take(length);
  }

  /** Copy in the memory of the kernels, until the next `begin`. */
  index(values: Int32Array): Int32Array {
    return this.scope.rows(values);
  }

  /**
   * Result of a custom operation.
   * @param values from `buffer`
   * @param backward adds to the gradients of what it was computed of
   */
  taped(values: Float32Array, width: number, backward: (grads: Float32Array) => void): HostTaped {
    return this.result(
      values,
      [width === 0 ? 0 : values.length / width, width],
      [{ rows: 0, width, values, grads: values }],
      backward,
    );
  }

  /** relu of the sums of one row of each table, plus `x · w`. */
  reluOfSums(parts: readonly Gathered<Float32Array>[], base?: readonly [x: HostTaped, w: HostTaped]): HostTaped {
    return this.sumOfRows(parts, { base, act: 'relu' satisfies Activation });
  }

  /**
   * Attention of each query over its rows: Σ_j softmax_j(query · x_j) x_j.
   * @param offsets int32 [queries + 1]: rows of query `i` are `offsets[i] .. offsets[i + 1] - 1`; at least one
   * @returns [queries, width]
   */
  attend(query: HostTaped, x: HostTaped, offsets: Int32Array): HostTaped {
    const { kernels } = this.executor;
    const { width } = x;
    const copied = this.index(offsets);
    const shares = this.buffer(x.rows);
    const out = this.buffer(query.rows * width);
    const of = [query.values, x.values, copied].map(({ byteOffset }) => byteOffset) as [number, number, number];
    kernels.attend(...of, query.rows, width, shares.byteOffset, out.byteOffset);
    return this.taped(out, width, (grads) => {
      kernels.attendGrad(
        ...([grads.byteOffset, ...of, query.rows, width, shares.byteOffset, out.byteOffset] as const),
        ...([query.grads?.byteOffset ?? 0, x.grads?.byteOffset ?? 0] as const),
      );
    });
  }

  override outputs(parts: readonly HostTaped[]): HostOutputs {
    const outputs = super.outputs(parts);
    const values = new Float32Array(parts.reduce((sum, part) => sum + part.values.length, 0));
    parts.reduce((at, part) => (values.set(part.values, at), at + part.values.length), 0);
    return { ...outputs, values, read: () => Promise.resolve(values) };
  }
}
