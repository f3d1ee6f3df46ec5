/**
 * AdamW's step on the host for weights that are tensors of a backend whose memory the host reads at once: one pass of a kernel in
 * the place of a dozen small operations a parameter, each of which reads and writes all of it. Every number goes through the same
 * operations of float32 in the same order, so the bits are those of the tensors' own step.
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { kernelsRun } from '../../simd/kernels.js';
import { onHost, readsAtOnce } from '../ops.js';
import type { ParameterSet } from '../parameters.js';
import type { AdamWOptions } from '../trainable.js';
import { clipped, type Fresh, HostAdamW } from './host-adamw.js';
import { HostParameters } from './host-parameters.js';

/** Weights from which on the copies would not fit the memory of the kernels: seven numbers of four bytes each. */
const mostWeights = 2 ** 27;

/** Moments on the host, and room for weights and gradients while they step. */
export class MirroredAdamW {
  /** Over copies of the weights, which are current only within a step. */
  readonly moments: HostAdamW;

  /** Returns whether the host can compute steps of these weights. */
  static fits(parameters: ParameterSet): boolean {
    return readsAtOnce(parameters.tf) && kernelsRun() && parameters.size < mostWeights;
  }

  constructor(
    readonly weights: ParameterSet,
    readonly options: AdamWOptions,
  ) {
    const zeros = weights.names.map((name) => {
      const { shape, size } = weights.get(name);
      return [name, { shape: shape.slice(), data: new Float32Array(size) }] as const;
    });
    this.moments = new HostAdamW(new HostParameters(Object.fromEntries(zeros)), options);
  }

  /**
   * One step of the weights.
   * @param gradients one for each, in their order
   * @param square of the gradients' norm, as the backend computed it
   * @throws Diverged for a moment or a weight that would not be finite; nothing has changed then
   */
  descend(gradients: readonly tfTypes.Tensor[], square: number, learningRate: number): void {
    const { weights, moments } = this;
    const { tf } = weights;
    const mirror = moments.parameters;
    weights.names.forEach((name, k) => {
      mirror.value(name).set(weights.get(name).dataSync() as Float32Array);
      mirror.grad(name).set(gradients[k]!.dataSync() as Float32Array);
    });
    moments.descend(Math.sqrt(square), this.#fresh(square), learningRate);
    for (const name of weights.names) {
      const variable = weights.get(name);
      const next = tf.tensor(mirror.value(name).slice(), variable.shape, 'float32');
      variable.assign(next);
      next.dispose();
    }
  }

  /** Native TensorFlow clips in float32, number by number. */
  #fresh(square: number): Fresh {
    const { tf } = this.weights;
    const { maxGradNorm = Infinity } = this.options;
    const norm = Math.sqrt(square);
    if (onHost(tf) || maxGradNorm === Infinity) return clipped(norm, this.options);
    const whole = clipped(1, { ...this.options, maxGradNorm: Infinity });
    const scale = Math.min(Math.fround(Math.fround(maxGradNorm) / Math.fround(norm)), 1);
    return {
      gain: Math.fround(scale * Math.fround(whole.gain)),
      squareGain: Math.fround(Math.fround(scale * scale) * Math.fround(whole.squareGain)),
    };
  }
}
