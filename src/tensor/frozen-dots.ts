/** Dot products of trained rows with rows of tables that are not trained: how a state meets edges of frozen vectors. */
import type * as tfTypes from '@tensorflow/tfjs';
import type { Tf } from './backend.js';
import { pairDot, readsAtOnce } from './ops.js';
import { addRowDots, addRowDotsGradient } from './row-dots.js';

/** The row of a table that each pair meets. */
export interface FrozenRows {
  /** float32 [any, width], on the host. */
  table: Float32Array;
  width: number;
  /** int32 [m]: rows of the table. */
  index: Int32Array;
}

/**
 * `out[i] = left[leftIndex[i]] · [rows of the tables for i, side by side]`, without copying rows together. The tables get
 * no gradient. Where tensors can be read at once the host does it; a device gets the rows that it needs.
 * @param left [n, sum of the widths]
 * @param leftIndex int32 [m]: equal ones best side by side
 * @returns [m]
 */
export function frozenDots(
  tf: Tf,
  left: tfTypes.Tensor2D,
  leftIndex: Int32Array,
  tables: readonly FrozenRows[],
): tfTypes.Tensor1D {
  const stride = left.shape[1];
  const columns = tables.map((_, k) => tables.slice(0, k).reduce((sum, { width }) => sum + width, 0));
  if (!readsAtOnce(tf)) {
    return tables
      .map((rows, k) => onDevice(tf, tf.slice(left, [0, columns[k]!], [left.shape[0], rows.width]), leftIndex, rows))
      .reduce((sum, dots) => tf.add(sum, dots));
  }
  const parts = tables.map(({ table, width, index }, k) => ({
    column: columns[k]!,
    rows: { values: table, stride: width, column: 0 },
    pairs: { width, left: leftIndex, right: index },
  }));
  const op = tf.customGrad((x, save) => {
    (save as (tensors: tfTypes.Tensor[]) => void)([]);
    const values = (x as tfTypes.Tensor).dataSync() as Float32Array;
    const out = new Float32Array(leftIndex.length);
    for (const { column, rows, pairs } of parts) addRowDots(out, { values, stride, column }, rows, pairs);
    return {
      value: tf.tensor1d(out),
      gradFunc: (dy: tfTypes.Tensor) => {
        const upstream = dy.dataSync() as Float32Array;
        const gradient = new Float32Array(left.size);
        for (const { column, rows, pairs } of parts) {
          addRowDotsGradient({ values: gradient, stride, column }, upstream, rows, pairs);
        }
        return tf.tensor2d(gradient, left.shape);
      },
    };
  });
  return op(left) as tfTypes.Tensor1D;
}

function onDevice(tf: Tf, left: tfTypes.Tensor2D, leftIndex: Int32Array, { table, width, index }: FrozenRows) {
  const places = new Map<number, number>();
  const local = index.map((row) => {
    const place = places.get(row) ?? places.size;
    places.set(row, place);
    return place;
  });
  const rows = new Float32Array(places.size * width);
  for (const [row, place] of places) rows.set(table.subarray(row * width, (row + 1) * width), place * width);
  return pairDot(tf, left, tf.tensor2d(rows, [places.size, width]), leftIndex, local);
}
