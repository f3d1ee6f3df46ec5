/** The gate of SwiGLU with its gradient in closed form. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../src/tensor/backend.js';

type Tensor2D = tfTypes.Tensor2D;
type Save = (tensors: tfTypes.Tensor[]) => void;

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
        const slope = tf.add(sigmoid, tf.mul(activation, tf.sub(1, sigmoid)));
        return [tf.mul(tf.mul(dy, other), slope), tf.mul(dy, activation)];
      },
    };
  });
  return op(gate, up) as Tensor2D;
}
