/**
 * Tables that rows are multiplied with again and again, held where the SIMD kernels reach them. Results are those of
 * `row-dots.ts` to the bit, which also does the work where there is no SIMD, or no room for a second copy of the tables.
 */
import { WorkbenchError } from '../run/errors.js';
import { Arena } from '../simd/arena.js';
import { openKernels } from '../simd/kernels.js';
import { addRowDots, addRowDotsGradient } from './row-dots.js';

/** float32 [any, width]. */
export interface Table {
  values: Float32Array;
  width: number;
}

/** Rows that meet: row `left[i]` of the one side, and row `right[k][i]` of each table, whose rows stand side by side. */
export interface TablePairs {
  left: Int32Array;
  right: readonly Int32Array[];
}

/** Products with rows of the tables. */
export interface HeldTables {
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

function strideOf(tables: readonly Table[]): number {
  return tables.reduce((sum, { width }) => sum + width, 0);
}

/** The tables with the column at which each one's share of a row begins. */
function partsOf(tables: readonly Table[]) {
  return tables.map((table, k) => ({ ...table, column: strideOf(tables.slice(0, k)) }));
}
