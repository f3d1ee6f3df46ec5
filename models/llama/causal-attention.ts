/** Softmax attention to the tokens before, in blocks of queries, so that keys after a block cost nothing. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../src/tensor/backend.js';
import { batchProduct } from '../../src/tensor/ops.js';

type Tensor3D = tfTypes.Tensor3D;
type Save = (tensors: tfTypes.Tensor[]) => void;

/** Places of queries handled at once. */
const blockLength = 128;

/** A block: its first place, the one after its last. */
type Block = readonly [from: number, to: number];

/**
 * Attention of each place to itself and the places before it.
 * @param q [n, length · group, headDim], where n is batch · key heads; the `group` queries of a place stand together
 * @param k [n, length, headDim]
 * @param v [n, length, headDim]
 * @param group query heads that share a key head
 * @returns the shape of `q`
 */
export function causalAttention(tf: Tf, q: Tensor3D, k: Tensor3D, v: Tensor3D, group: number): Tensor3D {
  const [count, length, size] = k.shape;
  const scale = 1 / Math.sqrt(size);
  const blocks: Block[] = [];
  for (let from = 0; from < length; from += blockLength) blocks.push([from, Math.min(from + blockLength, length)]);
  const queries = (x: Tensor3D, [from, to]: Block): Tensor3D =>
    blocks.length === 1 ? x : tf.slice(x, [0, from * group, 0], [count, (to - from) * group, size]);
  const keys = (x: Tensor3D, [, to]: Block): Tensor3D =>
    to === length ? x : tf.slice(x, [0, 0, 0], [count, to, size]);

  const op = tf.customGrad((a, b, c, save) => {
    const [key, value] = [b as Tensor3D, c as Tensor3D];
    const query: Tensor3D = tf.mul(a as Tensor3D, scale);
    const shares = blocks.map((block) => {
      const scores = batchProduct(tf, queries(query, block), keys(key, block), false, true);
      return tf.softmax(tf.add(scores, causalMask(tf, block, group))) as Tensor3D;
    });
    const outputs = shares.map((share, i) => batchProduct(tf, share, keys(value, blocks[i]!), false, false));
    const output = outputs.length === 1 ? outputs[0]! : tf.concat(outputs, 1);
    (save as Save)([query, key, value, output, ...shares]);
    return {
      value: output,
      gradFunc: (dy: tfTypes.Tensor, saved: tfTypes.Tensor[]) => {
        const [sq, sk, sv, out, ...parts] = saved as Tensor3D[];
        // Σ_j share_j · dshare_j of a row is the product of its output and the output's gradient.
        const along = tf.sum(tf.mul(dy, out!), 2, true) as Tensor3D;
        const grads = blocks.map((block, i) => {
          const dOut = queries(dy as Tensor3D, block);
          const row =
            blocks.length === 1 ? along : tf.slice(along, [0, block[0] * group, 0], [count, dOut.shape[1], 1]);
          const dShare = batchProduct(tf, dOut, keys(sv!, block), false, true);
          const dScore = tf.mul(parts[i]!, tf.sub(dShare, row)) as Tensor3D;
          const after: [number, number][] = [
            [0, 0],
            [0, length - block[1]],
            [0, 0],
          ];
          return [
            batchProduct(tf, dScore, keys(sk!, block), false, false),
            tf.pad(batchProduct(tf, dScore, queries(sq!, block), true, false), after),
            tf.pad(batchProduct(tf, parts[i]!, dOut, true, false), after),
          ] as const;
        });
        return [
          tf.mul(
            tf.concat(
              grads.map(([dq]) => dq),
              1,
            ),
            scale,
          ),
          tf.addN(grads.map(([, dk]) => dk)),
          tf.addN(grads.map(([, , dv]) => dv)),
        ];
      },
    };
  });
  return op(q, k, v) as Tensor3D;
}

/** Mask added to a block's scores: 0 up to the query's place and −1e9 after it, [1, rows, keys]. */
function causalMask(tf: Tf, [from, to]: Block, group: number): Tensor3D {
  const values = new Float32Array((to - from) * group * to);
  for (let row = 0; row < (to - from) * group; row++) {
    values.fill(-1e9, row * to + from + Math.floor(row / group) + 1, (row + 1) * to);
  }
  return tf.tensor3d(values, [1, (to - from) * group, to]);
}
