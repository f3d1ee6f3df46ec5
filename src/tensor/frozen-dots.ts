/** Dot products of trained rows with rows of tables that are not trained: how a state meets edges of frozen vectors. */
import type * as tfTypes from '@tensorflow/tfjs';
import type { Tf } from './backend.js';
import { holdTables, type HeldTables, type Table, type TablePairs } from './held-tables.js';
import { pairDot, readsAtOnce } from './ops.js';

/**
 * Makes `out[i] = left[pairs.left[i]] · [row pairs.right[k][i] of each table k, side by side]`, without copying rows
 * together. The tables get no gradient. Where tensors can be read at once the host does it; a device gets the rows that it
 * needs.
 * @param tables not to be changed
 * @returns differentiable, of `left` [n, sum of the widths]; equal rows of `pairs.left` best side by side
 */
export function frozenDots(
  tf: Tf,
  tables: readonly Table[],
): (left: tfTypes.Tensor2D, pairs: TablePairs) => tfTypes.Tensor1D {
  let held: HeldTables | undefined;
  return (left, pairs) => {
    if (!readsAtOnce(tf)) return onDevice(tf, tables, left, pairs);
    const { dots, gradient } = (held ??= holdTables(tables));
    const op = tf.customGrad((x, save) => {
      (save as (tensors: tfTypes.Tensor[]) => void)([]);
      return {
        value: tf.tensor1d(dots((x as tfTypes.Tensor).dataSync() as Float32Array, pairs)),
        gradFunc: (dy: tfTypes.Tensor) =>
          tf.tensor2d(gradient(dy.dataSync() as Float32Array, left.size, pairs), left.shape),
      };
    });
    return op(left) as tfTypes.Tensor1D;
  };
}

function onDevice(tf: Tf, tables: readonly Table[], left: tfTypes.Tensor2D, pairs: TablePairs): tfTypes.Tensor1D {
  let column = 0;
  const parts = tables.map(({ values, width }, k) => {
    const columns = tf.slice(left, [0, column], [left.shape[0], width]);
    column += width;
    const places = new Map<number, number>();
    const local = pairs.right[k]!.map((row) => {
      const place = places.get(row) ?? places.size;
      places.set(row, place);
      return place;
    });
    const rows = new Float32Array(places.size * width);
    for (const [row, place] of places) rows.set(values.subarray(row * width, (row + 1) * width), place * width);
    return pairDot(tf, columns, tf.tensor2d(rows, [places.size, width]), pairs.left, local);
  });
  return parts.reduce((sum, part) => tf.add(sum, part));
}
