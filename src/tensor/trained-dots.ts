/** Dot products of trained rows with rows of tables that are trained as well: how a state meets edges of trained vectors. */
import type * as tfTypes from '@tensorflow/tfjs';
import type { Tf } from './backend.js';
import type { TablePairs } from './held-tables.js';
import { pairDot, readsAtOnce } from './ops.js';
import { simdRowDots, type RowDots } from './simd-row-dots.js';

type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;

/**
 * Makes `out[i] = left[pairs.left[i]] · [row pairs.right[k][i] of each table k, side by side]`. Where tensors can be read at
 * once, the products are the host's, over the rows that take part: what grows with the tables is one copy of each forward
 * and their gradient back.
 * @returns differentiable, of `left` [n, sum of the widths] and of the tables; equal rows of `pairs.left` best side by side
 */
export function trainedDots(tf: Tf): (left: Tensor2D, tables: readonly Tensor2D[], pairs: TablePairs) => Tensor1D {
  let opened: RowDots | undefined;
  return (left, tables, pairs) => {
    if (!readsAtOnce(tf)) return onDevice(tf, left, tables, pairs);
    const dots = (opened ??= simdRowDots());
    const op = tf.customGrad((x, ...rest) => {
      const save = rest.at(-1) as unknown as (tensors: tfTypes.Tensor[]) => void;
      save([]);
      const stride = left.shape[1];
      const own = (x as tfTypes.Tensor).dataSync() as Float32Array;
      const parts = tables.map((table, k) => {
        const values = (rest[k] as tfTypes.Tensor).dataSync() as Float32Array;
        return { table, ...compact(values, table.shape, pairs.right[k]!) };
      });
      const out = new Float32Array(pairs.left.length);
      let column = 0;
      const placed = parts.map((part) => {
        const [rows, width] = [{ values: part.rows, stride: part.width, column: 0 }, part.width];
        const mine = { stride, column };
        column += width;
        dots.addRowDots(out, { values: own, ...mine }, rows, { width, left: pairs.left, right: part.places });
        return { ...part, rows, mine };
      });
      const gradFunc = (dy: tfTypes.Tensor) => {
        const upstream = dy.dataSync() as Float32Array;
        const ofLeft = new Float32Array(own.length);
        const ofTables = placed.map(({ table, ids, places, rows, width, mine }) => {
          const of = { width, left: pairs.left, right: places };
          dots.addRowDotsGradient({ values: ofLeft, ...mine }, upstream, rows, of);
          // Pairs of one row side by side are taken four at a time; within a row they keep their order, and so its sum.
          const order = sortedBy(places, ids.length);
          const gradient = new Float32Array(rows.values.length);
          dots.addRowDotsGradient(
            { values: gradient, stride: width, column: 0 },
            taken(upstream, order, new Float32Array(order.length)),
            { values: own, ...mine },
            {
              width,
              left: taken(places, order, new Int32Array(order.length)),
              right: taken(pairs.left, order, new Int32Array(order.length)),
            },
          );
          return tf.tensor2d(spread(gradient, ids, table.size, width), table.shape);
        });
        return [tf.tensor2d(ofLeft, left.shape), ...ofTables];
      };
      return { value: tf.tensor1d(out), gradFunc };
    });
    return op(left, ...tables) as Tensor1D;
  };
}

function onDevice(tf: Tf, left: Tensor2D, tables: readonly Tensor2D[], pairs: TablePairs): Tensor1D {
  let column = 0;
  const parts = tables.map((table, k) => {
    const columns = tf.slice(left, [0, column], [left.shape[0], table.shape[1]]);
    column += table.shape[1];
    return pairDot(tf, columns, table, pairs.left, pairs.right[k]!);
  });
  return parts.reduce((sum, part) => tf.add(sum, part));
}

/** The rows of a table that are asked for, once each, and the place of each in them. */
function compact(values: Float32Array, [count, width]: [number, number], asked: Int32Array) {
  const placeOf = new Int32Array(count).fill(-1);
  const ids: number[] = [];
  const places = new Int32Array(asked.length);
  for (let i = 0; i < asked.length; i++) {
    const row = asked[i]!;
    if (placeOf[row]! < 0) placeOf[row] = ids.push(row) - 1;
    places[i] = placeOf[row]!;
  }
  const rows = new Float32Array(ids.length * width);
  ids.forEach((row, i) => rows.set(values.subarray(row * width, (row + 1) * width), i * width));
  return { ids, places, rows, width };
}

/** The other way: rows of a gradient at their places in the table's, zeros between. */
function spread(rows: Float32Array, ids: readonly number[], size: number, width: number): Float32Array {
  const all = new Float32Array(size);
  ids.forEach((row, i) => all.set(rows.subarray(i * width, (i + 1) * width), row * width));
  return all;
}

/** Indices of keys in 0 .. count − 1, by key; those of equal ones stay in their order. */
function sortedBy(keys: Int32Array, count: number): Int32Array {
  const next = new Int32Array(count + 1);
  for (let i = 0; i < keys.length; i++) next[keys[i]! + 1]!++;
  for (let key = 0; key < count; key++) next[key + 1]! += next[key]!;
  const order = new Int32Array(keys.length);
  for (let i = 0; i < keys.length; i++) order[next[keys[i]!]!++] = i;
  return order;
}

/** Some values in the order of `which`. Loops here: a function for each of a million pairs costs as much as their products. */
function taken<Column extends Float32Array | Int32Array>(values: Column, which: Int32Array, into: Column): Column {
  for (let i = 0; i < which.length; i++) into[i] = values[which[i]!]!;
  return into;
}
