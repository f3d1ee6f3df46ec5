/** Products of matrices in the forms a Llama needs, each on the fast kernel of its backend. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../src/tensor/backend.js';
import { matMul } from '../../src/tensor/ops.js';

type Tensor2D = tfTypes.Tensor2D;

/** x·Wᵀ: [n, in] by a weight [out, in] → [n, out]. Differentiable in both. */
export function linear(tf: Tf, x: Tensor2D, weight: Tensor2D): Tensor2D {
  if (tf.getBackend() === 'tensorflow') return tf.matMul(x, weight, false, true);
  return matMul(tf, x, tf.transpose(weight));
}
