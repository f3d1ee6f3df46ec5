/**
 * Rows of a table, and sums of rows, each the gradient of the other, by gathers and matrix products alone: for WebGPU, where the
 * library's own sum adds by atomic operations, number by number, and every edge of a state waits for the others.
 */
import type * as tfTypes from '@tensorflow/tfjs-core';

type Tf = typeof tfTypes;
type Tensor2D = tfTypes.Tensor2D;
type Save = (tensors: tfTypes.Tensor[]) => void;

/** Rows of a table on a device: [n, d] by int32 [m] → [m, d]; differentiable. */
export function deviceRows(tf: Tf, table: Tensor2D, index: Int32Array): Tensor2D {
  if (tf.getBackend() !== 'webgpu') return taken(tf, table, index);
  const op = tf.customGrad((x, save) => {
    (save as Save)([]);
    return {
      value: taken(tf, x as Tensor2D, index),
      gradFunc: (dy: tfTypes.Tensor) => summedRows(tf, dy as Tensor2D, index, table.shape[0]),
    };
  });
  return op(table) as Tensor2D;
}

/**
 * Sums of rows on a device: out[index[i]] = Σ x[i], zeros where nothing is added; differentiable.
 * @param x [m, d]
 * @param index int32 [m], each below `rows`
 * @returns [rows, d]
 */
export function deviceRowSums(tf: Tf, x: Tensor2D, index: Int32Array, rows: number): Tensor2D {
  if (tf.getBackend() !== 'webgpu') {
    return tf.unsortedSegmentSum(x, tf.tensor1d(index, 'int32'), rows) as Tensor2D;
  }
  const op = tf.customGrad((values, save) => {
    (save as Save)([]);
    return {
      value: summedRows(tf, values as Tensor2D, index, rows),
      gradFunc: (dy: tfTypes.Tensor) => taken(tf, dy as Tensor2D, index),
    };
  });
  return op(x) as Tensor2D;
}

/** Segments that are not empty by the power of two that their length is padded to. @param offsets int32 [segments + 1] */
export function byPaddedLength(offsets: Int32Array): Map<number, number[]> {
  const classes = new Map<number, number[]>();
  for (let s = 0; s + 1 < offsets.length; s++) {
    const length = offsets[s + 1]! - offsets[s]!;
    if (length === 0) continue;
    const padded = 2 ** Math.ceil(Math.log2(length));
    if (!classes.get(padded)?.push(s)) classes.set(padded, [s]);
  }
  return classes;
}

function taken(tf: Tf, table: Tensor2D, index: Int32Array): Tensor2D {
  return tf.gather(table, tf.tensor1d(index, 'int32')) as Tensor2D;
}

/**
 * The sums without the library's own: rows to add lie side by side, as many as the next power of two, so that less than as many again
 * are read, and a product with ones and zeros adds them. Without gradient.
 */
export function summedRows(tf: Tf, x: Tensor2D, index: Int32Array, rows: number): Tensor2D {
  const width = x.shape[1];
  const begins = new Int32Array(rows + 1);
  for (const row of index) begins[row + 1]!++;
  for (let row = 0; row < rows; row++) begins[row + 1]! += begins[row]!;
  const order = new Int32Array(index.length);
  const next = begins.slice();
  index.forEach((row, i) => (order[next[row]!++] = i));

  let placed = 0;
  const placeOf = new Int32Array(rows).fill(-1);
  const sums = Array.from(byPaddedLength(begins), ([size, same]) => {
    const indices = new Int32Array(same.length * size);
    const counts = new Float32Array(indices.length);
    same.forEach((row, k) => {
      const begin = begins[row]!;
      const length = begins[row + 1]! - begin;
      indices.fill(order[begin]!, k * size, (k + 1) * size);
      indices.set(order.subarray(begin, begin + length), k * size);
      counts.fill(1, k * size, k * size + length);
      placeOf[row] = placed++;
    });
    const side = tf.reshape(taken(tf, x, indices), [same.length, size, width]);
    return tf.reshape(tf.matMul(tf.tensor3d(counts, [same.length, 1, size]), side), [same.length, width]) as Tensor2D;
  });
  const all = tf.concat([...sums, tf.zeros([1, width])], 0) as Tensor2D;
  return taken(
    tf,
    all,
    placeOf.map((place) => (place < 0 ? placed : place)),
  );
}
