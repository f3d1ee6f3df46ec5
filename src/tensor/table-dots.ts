/**
 * Dot products of trained rows with rows of tables, trained or frozen: how a state meets edges. Where tensors can be read at
 * once the host multiplies, by SIMD kernels where they run; results are those of `row-dots.ts` to the bit. So it does for a device
 * where the products are the last of a network: they are few sums a number, and the rows of all edges many numbers.
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { WorkbenchError } from '../run/errors.js';
import { Arena } from '../simd/arena.js';
import { openKernels } from '../simd/kernels.js';
import { joined } from './categorical.js';
import { type EndedOnHost, type HostEnd, pairDot, readsAtOnce, type TensorOutputs, type Tf } from './ops.js';
import { addRowDots, addRowDotsGradient, simdRowDots, type RowDots } from './row-dots.js';
import { deviceRows } from './row-sums.js';

type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;

/**
 * Makes `out[i] = left[pairs.left[i]] · [row pairs.right[k][i] of each table k, side by side]` at the end of a network, without
 * copying rows together, on the host. The tables get no gradient.
 * @param tables not to be changed
 * @returns differentiable, of `left` [n, sum of the widths]; equal rows of `pairs.left` best side by side
 */
export function frozenDots(tables: readonly Table[]): (left: Tensor2D, pairs: TablePairs) => EndedOnHost {
  let held: HeldTables | undefined;
  return (left, pairs) => ({
    device: left,
    end: (read) => {
      const { dots, gradient } = (held ??= holdTables(tables));
      return { values: dots(read, pairs), back: (grad) => gradient(grad, read.length, pairs) };
    },
  });
}

/**
 * Makes `out[i] = left[pairs.left[i]] · [row pairs.right[k][i] of each table k, side by side]`. Where tensors can be read at
 * once, the products are the host's, over the rows that take part: what grows with the tables is one copy of each forward
 * and their gradient back.
 * @returns differentiable, of `left` [n, sum of the widths] and of the tables; equal rows of `pairs.left` best side by side
 */
export function trainedDots(tf: Tf): (left: Tensor2D, tables: readonly Tensor2D[], pairs: TablePairs) => Tensor1D {
  let opened: RowDots | undefined;
  return (left, tables, pairs) => {
    if (!readsAtOnce(tf)) {
      const parts = tables.map((table, k) => ({ table, right: pairs.right[k]! }));
      return onDevice(tf, left, pairs, parts);
    }
    const dots = (opened ??= simdRowDots());
    const op = tf.customGrad((x, ...rest) => {
      const save = rest.at(-1) as unknown as (tensors: tfTypes.Tensor[]) => void;
      save([]);
      const parts = tables.map((table, k) => {
        const asked = askedRows(table, pairs.right[k]!);
        const values = (rest[k] as tfTypes.Tensor).dataSync() as Float32Array;
        return { ...asked, table, rows: rowsAt(values, asked) };
      });
      const { values, back } = productsOf(dots, (x as tfTypes.Tensor).dataSync() as Float32Array, parts, pairs.left);
      const gradFunc = (dy: tfTypes.Tensor) => {
        const { ofLeft, ofRows } = back(dy.dataSync() as Float32Array);
        const ofTables = parts.map((part, k) =>
          tf.tensor2d(spread(ofRows[k]!, part, part.table.size), part.table.shape),
        );
        return [tf.tensor2d(ofLeft, left.shape), ...ofTables];
      };
      return { value: tf.tensor1d(values), gradFunc };
    });
    return op(left, ...tables) as Tensor1D;
  };
}

/** `trainedDots` at the end of a network: the host reads `left` and the rows that take part from a device, and multiplies. */
export function lastTrainedDots(
  tf: Tf,
): (left: Tensor2D, tables: readonly Tensor2D[], pairs: TablePairs) => TensorOutputs<Tensor1D> {
  const within = trainedDots(tf);
  let opened: RowDots | undefined;
  return (left, tables, pairs) => {
    if (readsAtOnce(tf)) return within(left, tables, pairs);
    const dots = (opened ??= simdRowDots());
    const asked = tables.map((table, k) => askedRows(table, pairs.right[k]!));
    const taking = asked.map(({ ids }, k) => deviceRows(tf, tables[k]!, Int32Array.from(ids)));
    const device = tf.concat([left, ...taking].map((rows) => tf.reshape(rows, [-1]) as Tensor1D));
    const end = (read: Float32Array): HostEnd => {
      let begin = left.size;
      const parts = asked.map((one) => {
        const rows = read.subarray(begin, (begin += one.ids.length * one.width));
        return { ...one, rows };
      });
      const { values, back } = productsOf(dots, read.subarray(0, left.size), parts, pairs.left);
      return {
        values,
        back: (grad) => {
          const { ofLeft, ofRows } = back(grad);
          return joined([ofLeft, ...ofRows]);
        },
      };
    };
    return { device, end };
  };
}

/** Rows of one table, as many as take part, and which of them each pair has. */
interface AskedRows {
  ids: readonly number[];
  /** int32 [pairs] */
  places: Int32Array;
  width: number;
}

/**
 * On the host.
 * @param own float32 [n, sum of the widths]
 * @param parts with float32 [ids, width] each
 * @param left int32 [pairs]
 */
function productsOf(
  dots: RowDots,
  own: Float32Array,
  parts: readonly (AskedRows & { rows: Float32Array })[],
  left: Int32Array,
) {
  const values = new Float32Array(left.length);
  const placed = partsOf(parts).map(({ rows, column, ...part }) => {
    const [mine, theirs] = [
      { stride: strideOf(parts), column },
      { values: rows, stride: part.width, column: 0 },
    ];
    dots.addRowDots(values, { values: own, ...mine }, theirs, { width: part.width, left, right: part.places });
    return { ...part, mine, theirs };
  });
  const back = (upstream: Float32Array) => {
    const ofLeft = new Float32Array(own.length);
    const ofRows = placed.map(({ ids, places, width, mine, theirs }) => {
      dots.addRowDotsGradient({ values: ofLeft, ...mine }, upstream, theirs, { width, left, right: places });
      // Pairs of one row side by side are taken four at a time; within a row they keep their order, and so its sum.
      const order = sortedBy(places, ids.length);
      const gradient = new Float32Array(theirs.values.length);
      dots.addRowDotsGradient(
        { values: gradient, stride: width, column: 0 },
        taken(upstream, order, new Float32Array(order.length)),
        { values: own, ...mine },
        {
          width,
          left: taken(places, order, new Int32Array(order.length)),
          right: taken(left, order, new Int32Array(order.length)),
        },
      );
      return gradient;
    });
    return { ofLeft, ofRows };
  };
  return { values, back };
}

/** Columns of `left` with rows of each table, where a device multiplies. */
function onDevice(
  tf: Tf,
  left: Tensor2D,
  pairs: TablePairs,
  parts: readonly { table: Tensor2D; right: Int32Array }[],
): Tensor1D {
  let column = 0;
  return parts
    .map(({ table, right }) => {
      const columns = tf.slice(left, [0, column], [left.shape[0], table.shape[1]]);
      column += table.shape[1];
      return pairDot(tf, columns, table, pairs.left, right);
    })
    .reduce((sum, part) => tf.add(sum, part));
}

/** The rows of a table that are asked for, once each, and the place of each in them. */
function askedRows({ shape: [count, width] }: Tensor2D, asked: Int32Array): AskedRows {
  const placeOf = new Int32Array(count).fill(-1);
  const ids: number[] = [];
  const places = new Int32Array(asked.length);
  for (let i = 0; i < asked.length; i++) {
    const row = asked[i]!;
    if (placeOf[row]! < 0) placeOf[row] = ids.push(row) - 1;
    places[i] = placeOf[row]!;
  }
  return { ids, places, width };
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

/** float32 [any, width]. */
interface Table {
  values: Float32Array;
  width: number;
}

/** Rows that meet: row `left[i]` of the one side, and row `right[k][i]` of each table, whose rows stand side by side. */
export interface TablePairs {
  left: Int32Array;
  right: readonly Int32Array[];
}

interface HeldTables {
  /** Dot products of rows of `left`, float32 [any, sum of the widths]; float32 [m]. */
  dots(left: Float32Array, pairs: TablePairs): Float32Array;
  /** Their gradient by `left`: float32 [length], from that by each product, float32 [m]. */
  gradient(upstream: Float32Array, length: number, pairs: TablePairs): Float32Array;
}

/** Larger tables are not copied: memory counts more then. */
const mostBytes = 2 ** 28;

/** @param tables read in place or copied; not to be changed */
export function holdTables(tables: readonly Table[]): HeldTables {
  if (tables.reduce((sum, { values }) => sum + values.byteLength, 0) > mostBytes) return inPlace(tables);
  try {
    return inArena(tables, new Arena());
  } catch (error) {
    if (error instanceof WorkbenchError || error instanceof RangeError) return inPlace(tables);
    throw error;
  }
}

/** Without SIMD. */
export function inPlace(tables: readonly Table[]): HeldTables {
  const stride = strideOf(tables);
  const parts = partsOf(tables);
  return {
    dots: (left, pairs) => {
      const out = new Float32Array(pairs.left.length);
      parts.forEach(({ values, width, column }, k) =>
        addRowDots(
          out,
          { values: left, stride, column },
          { values, stride: width, column: 0 },
          { width, left: pairs.left, right: pairs.right[k]! },
        ),
      );
      return out;
    },
    gradient: (upstream, length, pairs) => {
      const gradient = new Float32Array(length);
      parts.forEach(({ values, width, column }, k) =>
        addRowDotsGradient(
          { values: gradient, stride, column },
          upstream,
          { values, stride: width, column: 0 },
          { width, left: pairs.left, right: pairs.right[k]! },
        ),
      );
      return gradient;
    },
  };
}

function inArena(tables: readonly Table[], arena: Arena): HeldTables {
  const kernels = openKernels(arena.memory);
  const stride = strideOf(tables);
  const parts = partsOf(tables.map(({ values, width }) => ({ values: arena.hold(values), width })));
  const floats = { rows: arena.float32(0), pairs: arena.float32(0) };
  const numbers = { left: arena.int32(0), right: arena.int32(0) };
  // An arena gives nothing back: room doubles, so that what is left behind is less than what is used.
  const room = (name: keyof typeof floats, length: number) => {
    if (floats[name].length < length) floats[name] = arena.float32(2 * length);
    return floats[name].subarray(0, length);
  };
  const place = (name: keyof typeof numbers, rows: Int32Array) => {
    if (numbers[name].length < rows.length) numbers[name] = arena.int32(2 * rows.length);
    numbers[name].set(rows);
    return numbers[name].byteOffset;
  };
  return {
    dots: (left, pairs) => {
      const rows = room('rows', left.length);
      rows.set(left);
      const out = room('pairs', pairs.left.length).fill(0);
      const of = place('left', pairs.left);
      parts.forEach(({ values, width, column }, k) => {
        const right = place('right', pairs.right[k]!);
        const from = rows.byteOffset + 4 * column;
        kernels.addRowDots(out.byteOffset, from, stride, values.byteOffset, width, width, of, right, out.length);
      });
      return out.slice();
    },
    gradient: (upstream, length, pairs) => {
      const gradient = room('rows', length).fill(0);
      const by = room('pairs', upstream.length);
      by.set(upstream);
      const of = place('left', pairs.left);
      parts.forEach(({ values, width, column }, k) => {
        const right = place('right', pairs.right[k]!);
        const to = gradient.byteOffset + 4 * column;
        kernels.addRowDotsGradient(to, stride, by.byteOffset, values.byteOffset, width, width, of, right, by.length);
      });
      return gradient.slice();
    },
  };
}

function strideOf(tables: readonly Pick<Table, 'width'>[]): number {
  return tables.reduce((sum, { width }) => sum + width, 0);
}

/** The tables with the column at which each one's share of a row begins. */
function partsOf<Part extends Pick<Table, 'width'>>(tables: readonly Part[]) {
  return tables.map((table, k) => ({ ...table, column: strideOf(tables.slice(0, k)) }));
}
