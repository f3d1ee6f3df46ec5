/** The tape over SIMD kernels, whose numbers can be read at any time: for networks with custom operations. */
import { Parameters, type InitialValues } from '../parameters.js';
import { type Outputs, Tape, type Taped } from '../tape.js';
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

  override outputs(parts: readonly HostTaped[]): HostOutputs {
    const outputs = super.outputs(parts);
    const values = new Float32Array(parts.reduce((sum, part) => sum + part.values.length, 0));
    parts.reduce((at, part) => (values.set(part.values, at), at + part.values.length), 0);
    return { ...outputs, values, read: () => Promise.resolve(values) };
  }
}
