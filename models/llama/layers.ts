/** Parts of a Llama's layers: products on the fast kernel of each backend, and RMSNorm and the gate with gradients in closed form. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../src/tensor/backend.js';
import { matMul } from '../../src/tensor/ops.js';

type Tensor2D = tfTypes.Tensor2D;
type Save = (tensors: tfTypes.Tensor[]) => void;

/** x·Wᵀ: [n, in] by a weight [out, in] → [n, out]. Differentiable in both. */
export function linear(tf: Tf, x: Tensor2D, weight: Tensor2D): Tensor2D {
  if (tf.getBackend() === 'tensorflow') return tf.matMul(x, weight, false, true);
  return matMul(tf, x, tf.transpose(weight));
}

/**
 * x / √(mean x² + eps) · gain, row by row: [n, d] by [d] → [n, d].
 * The recorded gradient needs three times the passes.
 * @source Zhang and Sennrich 2019, arXiv:1910.07467
 */
export function rmsNorm(tf: Tf, x: Tensor2D, gain: tfTypes.Tensor1D, eps: number): Tensor2D {
  const op = tf.customGrad((input, scale, save) => {
    const values = input as Tensor2D;
    const inverse = tf.rsqrt(tf.add(tf.mean(tf.square(values), 1, true), eps));
    const unit = tf.mul(values, inverse);
    (save as Save)([unit, inverse, scale as tfTypes.Tensor]);
    return {
      value: tf.mul(unit, scale as tfTypes.Tensor),
      gradFunc: (dy: tfTypes.Tensor, saved: tfTypes.Tensor[]) => {
        const [normal, factor, weight] = saved as [Tensor2D, Tensor2D, tfTypes.Tensor1D];
        const dUnit = tf.mul(dy, weight);
        const along = tf.mean(tf.mul(dUnit, normal), 1, true);
        return [tf.mul(tf.sub(dUnit, tf.mul(normal, along)), factor), tf.sum(tf.mul(dy, normal), 0)];
      },
    };
  });
  return op(x, gain) as Tensor2D;
}

/** silu(gate) · up, number by number, with silu(x) = x·sigmoid(x). @source Shazeer 2020, arXiv:2002.05202 */
export function gatedUnit(tf: Tf, gate: Tensor2D, up: Tensor2D): Tensor2D {
  const op = tf.customGrad((a, b, save) => {
    const open = tf.sigmoid(a as Tensor2D);
    const silu = tf.mul(a as Tensor2D, open);
    (save as Save)([open, silu, b as Tensor2D]);
    return {
      value: tf.mul(silu, b as Tensor2D),
      gradFunc: (dy: tfTypes.Tensor, saved: tfTypes.Tensor[]) => {
        const [sigmoid, activation, other] = saved as [Tensor2D, Tensor2D, Tensor2D];
        // d silu = sigmoid + silu·(1 − sigmoid)
        const grad = tf.add(sigmoid, tf.mul(activation, tf.sub(1, sigmoid)));
        return [tf.mul(tf.mul(dy, other), grad), tf.mul(dy, activation)];
      },
    };
  });
  return op(gate, up) as Tensor2D;
}
