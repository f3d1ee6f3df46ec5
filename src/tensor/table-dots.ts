/**
 * Dot products of trained rows with rows of tables, trained or frozen: how a state meets edges. Where tensors can be read at
 * once the host multiplies, by SIMD kernels. So it does for a device where the products are the last of a network: they are few sums a
 * number, and the rows of all edges many numbers.
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { joined } from './categorical.js';
import {
  columns,
  deviceRows,
  type EndedOnHost,
  type HostEnd,
  readsAtOnce,
  type TensorOutputs,
  type Tf,
} from './ops.js';
import { RowDots, type Rows, sharedRowDots } from './row-dots.js';

type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;

/** float32 [any, width]; not to be changed. */
interface Table {
  values: Float32Array;
  width: number;
}

/** Rows that meet: row `left[i]` of the one side, and row `right[k][i]` of each table, whose rows stand side by side. */
export interface TablePairs {
  /** int32 [m]; equal ones best side by side. */
  left: Int32Array;
  right: readonly Int32Array[];
}

/** Rows on the left: float32 [any, stride], of which the first columns take part. */
type LeftRows = Pick<Rows, 'values' | 'stride'>;

/**
 * Makes `out[i] = left[pairs.left[i]] · [row pairs.right[k][i] of each table k, side by side]` at the end of a network, on the host,
 * without copying rows together. The tables get no gradient.
 * @returns differentiable, of `left` [n, sum of the widths]
 */
export function frozenDots(tables: readonly Table[]): (left: Tensor2D, pairs: TablePairs) => EndedOnHost {
  let opened: { dots: RowDots; held: Float32Array[] } | undefined;
  const open = () => {
    const dots = new RowDots();
    return { dots, held: tables.map(({ values }) => dots.hold(values)) };
  };
  const stride = strideOf(tables);
  return (left, { left: states, right }) => ({
    device: left,
    end: (read) => {
      const { dots, held } = (opened ??= open());
      const parts = partsOf(tables).map(({ width, column }, k) => ({
        column,
        rows: { values: held[k]!, stride: width, column: 0 },
        pairs: { width, left: states, right: right[k]! },
      }));
      const values = new Float32Array(states.length);
      for (const { column, rows, pairs } of parts)
        dots.addRowDots(values, { values: read, stride, column }, rows, pairs);
      return {
        values,
        back: (grad) => {
          const gradient = new Float32Array(read.length);
          for (const { column, rows, pairs } of parts) {
            dots.addRowDotsGradient({ values: gradient, stride, column }, grad, rows, pairs);
          }
          return gradient;
        },
      };
    },
  });
}

/** The same products without a gradient, of tables that may change. */
export function hostDots(left: LeftRows, tables: readonly Table[], pairs: TablePairs): Float32Array {
  const parts = tables.map(({ values, width }, k) => {
    const asked = askedRows([values.length / width, width], pairs.right[k]!);
    return { ...asked, rows: rowsAt(values, asked) };
  });
  return productsOf(left, parts, pairs.left).values;
}

/**
 * Makes `out[i] = left[pairs.left[i]] · [row pairs.right[k][i] of each table k, side by side]`. Where tensors can be read at
 * once, the products are the host's, over the rows that take part: what grows with the tables is one copy of each forward
 * and their gradient back.
 * @returns differentiable, of `left` [n, sum of the widths] and of the tables
 */
export function trainedDots(tf: Tf, left: Tensor2D, tables: readonly Tensor2D[], pairs: TablePairs): Tensor1D {
  if (!readsAtOnce(tf)) return onDevice(tf, left, tables, pairs);
  const op = tf.customGrad((x, ...rest) => {
    const save = rest.at(-1) as unknown as (tensors: tfTypes.Tensor[]) => void;
    save([]);
    const parts = tables.map((table, k) => {
      const asked = askedRows(table.shape, pairs.right[k]!);
      return { ...asked, table, rows: rowsAt((rest[k] as tfTypes.Tensor).dataSync() as Float32Array, asked) };
    });
    const own = { values: (x as tfTypes.Tensor).dataSync() as Float32Array, stride: left.shape[1] };
    const { values, back } = productsOf(own, parts, pairs.left);
    const gradFunc = (dy: tfTypes.Tensor) => {
      const { ofLeft, ofRows } = back(dy.dataSync() as Float32Array);
      const ofTables = parts.map((part, k) => tf.tensor2d(spread(ofRows[k]!, part, part.table.size), part.table.shape));
      return [tf.tensor2d(ofLeft, left.shape), ...ofTables];
    };
    return { value: tf.tensor1d(values), gradFunc };
  });
  return op(left, ...tables) as Tensor1D;
}

/** Dot products of paired rows, differentiable: out[i] = left[leftIndex[i]] · right[rightIndex[i]]. @returns [m] */
export function pairDot(tf: Tf, left: Tensor2D, right: Tensor2D, leftIndex: Int32Array, rightIndex: Int32Array) {
  return trainedDots(tf, left, [right], { left: leftIndex, right: [rightIndex] });
}

/** `trainedDots` at the end of a network: the host reads `left` and the rows that take part from a device, and multiplies. */
export function lastTrainedDots(
  tf: Tf,
  left: Tensor2D,
  tables: readonly Tensor2D[],
  pairs: TablePairs,
): TensorOutputs<Tensor1D> {
  if (readsAtOnce(tf)) return trainedDots(tf, left, tables, pairs);
  const asked = tables.map(({ shape }, k) => askedRows(shape, pairs.right[k]!));
  const taking = asked.map(({ ids }, k) => deviceRows(tf, tables[k]!, Int32Array.from(ids)));
  const device = tf.concat([left, ...taking].map((rows) => tf.reshape(rows, [-1]) as Tensor1D));
  const end = (read: Float32Array): HostEnd => {
    let begin = left.size;
    const parts = asked.map((one) => ({ ...one, rows: read.subarray(begin, (begin += one.ids.length * one.width)) }));
    const own = { values: read.subarray(0, left.size), stride: left.shape[1] };
    const { values, back } = productsOf(own, parts, pairs.left);
    return {
      values,
      back: (grad) => {
        const { ofLeft, ofRows } = back(grad);
        return joined([ofLeft, ...ofRows]);
      },
    };
  };
  return { device, end };
}

/** Rows of one table, as many as take part, and which of them each pair has. */
interface AskedRows {
  ids: readonly number[];
  /** int32 [pairs] */
  indices: Int32Array;
  width: number;
}

/** @param parts with float32 [ids, width] each */
function productsOf(left: LeftRows, parts: readonly (AskedRows & { rows: Float32Array })[], states: Int32Array) {
  const dots = sharedRowDots();
  const values = new Float32Array(states.length);
  const placed = partsOf(parts).map(({ ids, indices, width, rows, column }) => {
    const theirs = { values: rows, stride: width, column: 0 };
    dots.addRowDots(values, { ...left, column }, theirs, { width, left: states, right: indices });
    return { ids, indices, width, theirs, column };
  });
  const back = (upstream: Float32Array) => {
    const ofLeft = new Float32Array(left.values.length);
    const ofRows = placed.map(({ ids, indices, width, theirs, column }) => {
      const gradient = { values: ofLeft, stride: left.stride, column };
      dots.addRowDotsGradient(gradient, upstream, theirs, { width, left: states, right: indices });
      // Pairs of one row side by side are taken four at a time; within a row they keep their order, and so its sum.
      const order = sortedBy(indices, ids.length);
      const own = { values: new Float32Array(theirs.values.length), stride: width, column: 0 };
      const sorted = {
        width,
        left: taken(indices, order, new Int32Array(order.length)),
        right: taken(states, order, new Int32Array(order.length)),
      };
      dots.addRowDotsGradient(own, taken(upstream, order, new Float32Array(order.length)), { ...left, column }, sorted);
      return own.values;
    });
    return { ofLeft, ofRows };
  };
  return { values, back };
}

/** Columns of `left` with rows of each table, where a device multiplies. */
function onDevice(tf: Tf, left: Tensor2D, tables: readonly Tensor2D[], pairs: TablePairs): Tensor1D {
  return partsOf(tables.map((table) => ({ table, width: table.shape[1] })))
    .map(({ table, width, column }, k) => {
      const own = deviceRows(tf, columns(tf, left, column, width), pairs.left);
      return tf.sum(tf.mul(own, deviceRows(tf, table, pairs.right[k]!)), 1) as Tensor1D;
    })
    .reduce((sum, part) => tf.add(sum, part));
}

/** 1 + place of each row that is asked for; zeros between calls. */
let placeOf = new Int32Array(0);

/** The rows of a table that are asked for, once each, and the place of each in them. */
function askedRows([count, width]: readonly [number, number], asked: Int32Array): AskedRows {
  if (placeOf.length < count) placeOf = new Int32Array(count);
  const ids: number[] = [];
  const indices = new Int32Array(asked.length);
  for (let i = 0; i < asked.length; i++) {
    const row = asked[i]!;
    indices[i] = (placeOf[row] ||= ids.push(row)) - 1;
  }
  for (const row of ids) placeOf[row] = 0;
  return { ids, indices, width };
}

function rowsAt(values: Float32Array, { ids, width }: AskedRows): Float32Array {
  const rows = new Float32Array(ids.length * width);
  ids.forEach((row, i) => rows.set(values.subarray(row * width, (row + 1) * width), i * width));
  return rows;
}

/** The other way: rows of a gradient at their places in the table's, zeros between. */
function spread(rows: Float32Array, { ids, width }: AskedRows, size: number): Float32Array {
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

function strideOf(tables: readonly Pick<Table, 'width'>[]): number {
  return tables.reduce((sum, { width }) => sum + width, 0);
}

/** The tables with the column at which each one's share of a row begins. */
function partsOf<Part extends Pick<Table, 'width'>>(tables: readonly Part[]) {
  return tables.map((table, k) => ({ ...table, column: strideOf(tables.slice(0, k)) }));
}
