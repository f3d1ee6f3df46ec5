/** Sums of single numbers over the edges of a graph: what comes to an entity by each relation. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { readsAtOnce, type Tf } from './ops.js';

/** What is added where: `values[from[i]]` to cell `into[i]`. Two arrays of equal length. */
export interface ScatterPairs {
  /** int32 [m]: place of a value. */
  from: Int32Array;
  /** int32 [m]: row · columns + column, in any order; equal ones add up. */
  into: Int32Array;
}

/**
 * A table of sums: `out[v, r] = Σ values[u]` over the edges u −r→ v. Edges cost an addition each, forward and back; sums run
 * in float32, in the order of the pairs.
 * @param values float32 [n], differentiable
 * @returns float32 [rows, columns], zeros where nothing is added
 */
export function scatterSums(
  tf: Tf,
  values: tfTypes.Tensor1D,
  { from, into }: ScatterPairs,
  [rows, columns]: readonly [rows: number, columns: number],
): tfTypes.Tensor2D {
  if (!readsAtOnce(tf)) {
    const moved = tf.gather(values, tf.tensor1d(from, 'int32'));
    const cells = tf.unsortedSegmentSum(moved, tf.tensor1d(into, 'int32'), rows * columns);
    return tf.reshape(cells, [rows, columns]) as tfTypes.Tensor2D;
  }
  const op = tf.customGrad((x, save) => {
    (save as unknown as (tensors: tfTypes.Tensor[]) => void)([]);
    const numbers = (x as tfTypes.Tensor).dataSync();
    const out = new Float32Array(rows * columns);
    for (let i = 0; i < from.length; i++) out[into[i]!]! += numbers[from[i]!]!;
    return {
      value: tf.tensor2d(out, [rows, columns]),
      gradFunc: (dy: tfTypes.Tensor) => {
        const upstream = dy.dataSync();
        const gradient = new Float32Array(values.size);
        for (let i = 0; i < from.length; i++) gradient[from[i]!]! += upstream[into[i]!]!;
        return tf.tensor1d(gradient);
      },
    };
  });
  return op(values) as tfTypes.Tensor2D;
}
