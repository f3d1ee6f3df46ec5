/** Rotary positions: pairs of numbers of a head are turned by an angle that grows with the token's place. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../src/tensor/backend.js';
import type { LlamaConfig } from './config.js';

type Tensor2D = tfTypes.Tensor2D;

/** Rotation of states of a given length and number of heads. */
export interface Rotation {
  /** Cosine and sine of each number's angle, [1, length · heads · headDim]. */
  cos: Tensor2D;
  sin: Tensor2D;
  /** [headDim, headDim]: x·swap puts −x[2i+1] at 2i and x[2i] at 2i+1. */
  swap: Tensor2D;
}

/** Angle of pair i at place p: p · theta^(−2i / headDim). @source Su et al. 2021, arXiv:2104.09864 */
export function rotation(tf: Tf, config: LlamaConfig, length: number, heads: number): Rotation {
  const size = config.dim / config.heads;
  const cos = new Float32Array(length * heads * size);
  const sin = new Float32Array(cos.length);
  for (let pair = 0; pair < size / 2; pair++) {
    const step = config.ropeTheta ** ((-2 * pair) / size);
    for (let index = 0; index < length; index++) {
      for (let head = 0; head < heads; head++) {
        const at = (index * heads + head) * size + 2 * pair;
        cos[at] = cos[at + 1] = Math.cos(index * step);
        sin[at] = sin[at + 1] = Math.sin(index * step);
      }
    }
  }
  const swap = new Float32Array(size * size);
  for (let i = 0; i < size; i += 2) {
    swap[i * size + i + 1] = 1;
    swap[(i + 1) * size + i] = -1;
  }
  return {
    cos: tf.tensor2d(cos, [1, cos.length]),
    sin: tf.tensor2d(sin, [1, sin.length]),
    swap: tf.tensor2d(swap, [size, size]),
  };
}

/** Turns [batch · length, heads · headDim]; the gradient is turned back. */
export function rotate(tf: Tf, x: Tensor2D, { cos, sin, swap }: Rotation): Tensor2D {
  const rows = (values: tfTypes.Tensor): Tensor2D => tf.reshape(values, [-1, cos.size]);
  const pairs = (values: tfTypes.Tensor): Tensor2D => tf.reshape(values, [-1, swap.shape[0]]);
  const op = tf.customGrad((input, save) => {
    (save as (tensors: tfTypes.Tensor[]) => void)([cos, sin, swap]);
    const swapped = rows(tf.matMul(pairs(input as Tensor2D), swap));
    return {
      value: tf.reshape(tf.add(tf.mul(rows(input as Tensor2D), cos), tf.mul(swapped, sin)), x.shape),
      gradFunc: (dy: tfTypes.Tensor, saved: tfTypes.Tensor[]) => {
        const [c, s, turn] = saved as [Tensor2D, Tensor2D, Tensor2D];
        // The swap's transpose is its negative.
        const back = rows(tf.matMul(pairs(tf.mul(rows(dy), s)), turn));
        return tf.reshape(tf.sub(tf.mul(rows(dy), c), back), x.shape);
      },
    };
  });
  return op(x) as Tensor2D;
}
