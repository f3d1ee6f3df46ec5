/** Products of matrices in the forms a Llama needs, each on the fast kernel of its backend. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../src/tensor/backend.js';
import { matMul } from '../../src/tensor/ops.js';

type Tensor2D = tfTypes.Tensor2D;
type Tensor3D = tfTypes.Tensor3D;

/** x·Wᵀ: [n, in] by a weight [out, in] → [n, out]. Differentiable in both. */
export function linear(tf: Tf, x: Tensor2D, weight: Tensor2D): Tensor2D {
  if (tf.getBackend() === 'tensorflow') return tf.matMul(x, weight, false, true);
  return matMul(tf, x, tf.transpose(weight));
}

/**
 * Batched a·b, either side transposed first: [n, r, i] × [n, i, c] → [n, r, c]. Without gradient: for the inside of
 * operations that bring their own. On wasm a flag would leave the fast kernel, so the transposed side is copied.
 */
export function batchProduct(tf: Tf, a: Tensor3D, b: Tensor3D, turnA: boolean, turnB: boolean): Tensor3D {
  if (tf.getBackend() === 'tensorflow') return tf.matMul(a, b, turnA, turnB);
  const turned = (x: Tensor3D, turn: boolean) => (turn ? tf.transpose(x, [0, 2, 1]) : x);
  return tf.matMul(turned(a, turnA), turned(b, turnB));
}
