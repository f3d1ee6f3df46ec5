/**
 * Dot products of paired rows of two tables on the host, with their gradients. Pairs that share a left row and stand side
 * by side, as the edges of a state do, are taken four at a time: the row is read once for the four, and their sums do not
 * wait for each other. Every sum keeps its order, so results are those of one pair after the other, to the bit.
 */
import { Arena } from '../simd/arena.js';
import { kernelsRun, openKernels } from '../simd/kernels.js';

export interface Rows {
  /** float32, row-major. */
  values: Float32Array;
  /** Values from one row to the next. */
  stride: number;
  /** First column that takes part. */
  column: number;
}

export interface RowPairs {
  /** Columns that take part. */
  width: number;
  /** int32 [m]: row of the left table; equal ones best side by side. */
  left: Int32Array;
  /** int32 [m]: row of the right table. */
  right: Int32Array;
}

/**
 * Adds `left row · right row` of each pair to `out`.
 * @param out float32 [m]; each product is summed in float64 and rounded before it is added
 */
export function addRowDots(out: Float32Array, left: Rows, right: Rows, pairs: RowPairs): void {
  const { width } = pairs;
  const x = left.values;
  const y = right.values;
  for (let i = 0; i < out.length; i++) {
    const p = place(left, pairs.left[i]!);
    const a = place(right, pairs.right[i]!);
    if (!fourFrom(pairs.left, i)) {
      let sum = 0;
      for (let j = 0; j < width; j++) sum += x[p + j]! * y[a + j]!;
      out[i]! += Math.fround(sum);
      continue;
    }
    const b = place(right, pairs.right[i + 1]!);
    const c = place(right, pairs.right[i + 2]!);
    const d = place(right, pairs.right[i + 3]!);
    let sumA = 0;
    let sumB = 0;
    let sumC = 0;
    let sumD = 0;
    for (let j = 0; j < width; j++) {
      const value = x[p + j]!;
      sumA += value * y[a + j]!;
      sumB += value * y[b + j]!;
      sumC += value * y[c + j]!;
      sumD += value * y[d + j]!;
    }
    out[i]! += Math.fround(sumA);
    out[++i]! += Math.fround(sumB);
    out[++i]! += Math.fround(sumC);
    out[++i]! += Math.fround(sumD);
  }
}

/**
 * Adds `upstream · right row` of each pair to its left row: the gradient of the left table. With the tables' parts and the
 * pairs' sides exchanged it is that of the right one.
 * @param gradient as the left table
 * @param upstream float32 [m]
 */
export function addRowDotsGradient(gradient: Rows, upstream: Float32Array, right: Rows, pairs: RowPairs): void {
  const { width } = pairs;
  const dx = gradient.values;
  const y = right.values;
  for (let i = 0; i < upstream.length; i++) {
    const p = place(gradient, pairs.left[i]!);
    const a = place(right, pairs.right[i]!);
    const byA = upstream[i]!;
    if (!fourFrom(pairs.left, i)) {
      if (byA === 0) continue;
      for (let j = 0; j < width; j++) dx[p + j]! += byA * y[a + j]!;
      continue;
    }
    const b = place(right, pairs.right[i + 1]!);
    const c = place(right, pairs.right[i + 2]!);
    const d = place(right, pairs.right[i + 3]!);
    const byB = upstream[++i]!;
    const byC = upstream[++i]!;
    const byD = upstream[++i]!;
    for (let j = 0; j < width; j++) {
      // Rounded after each, as if each had been stored.
      let sum = Math.fround(dx[p + j]! + byA * y[a + j]!);
      sum = Math.fround(sum + byB * y[b + j]!);
      sum = Math.fround(sum + byC * y[c + j]!);
      dx[p + j] = sum + byD * y[d + j]!;
    }
  }
}

function place({ stride, column }: Rows, row: number): number {
  return row * stride + column;
}

/** Returns whether the pairs `i .. i + 3` are there and share their row. */
function fourFrom(rows: Int32Array, i: number): boolean {
  const row = rows[i];
  return rows[i + 1] === row && rows[i + 2] === row && rows[i + 3] === row;
}

/** Dot products of paired rows, with their gradients. */
export interface RowDots {
  addRowDots: typeof addRowDots;
  addRowDotsGradient: typeof addRowDotsGradient;
}

/** Has separate memory that grows to twice the largest call; plain TypeScript where there are no kernels. */
export function simdRowDots(): RowDots {
  if (!kernelsRun()) return { addRowDots, addRowDotsGradient };
  const arena = new Arena();
  const kernels = openKernels(arena.memory);
  const floats = { pairs: arena.float32(0), left: arena.float32(0), right: arena.float32(0) };
  const numbers = { left: arena.int32(0), right: arena.int32(0) };
  // An arena gives nothing back: room doubles, so that what is left behind is less than what is used.
  const place = (name: keyof typeof floats, values: Float32Array) => {
    if (floats[name].length < values.length) floats[name] = arena.float32(2 * values.length);
    floats[name].set(values);
    return floats[name].subarray(0, values.length);
  };
  const placeRows = (name: keyof typeof numbers, rows: Int32Array) => {
    if (numbers[name].length < rows.length) numbers[name] = arena.int32(2 * rows.length);
    numbers[name].set(rows);
    return numbers[name].byteOffset;
  };
  /** Both tables and the pairs, put where the kernels reach them. */
  const placed = (left: Rows, right: Rows, pairs: RowPairs) => {
    const [leftValues, rightValues] = [place('left', left.values), place('right', right.values)];
    return {
      leftValues,
      leftAt: leftValues.byteOffset + 4 * left.column,
      rightAt: rightValues.byteOffset + 4 * right.column,
      leftRows: placeRows('left', pairs.left),
      rightRows: placeRows('right', pairs.right),
    };
  };
  return {
    addRowDots(out, left, right, pairs) {
      const { leftAt, rightAt, leftRows, rightRows } = placed(left, right, pairs);
      const sums = place('pairs', out);
      const { width } = pairs;
      kernels.addRowDots(
        ...([sums.byteOffset, leftAt, left.stride, rightAt, right.stride, width] as const),
        ...([leftRows, rightRows, out.length] as const),
      );
      out.set(sums);
    },
    addRowDotsGradient(gradient, upstream, right, pairs) {
      const { leftValues, leftAt, rightAt, leftRows, rightRows } = placed(gradient, right, pairs);
      const by = place('pairs', upstream);
      const { width } = pairs;
      kernels.addRowDotsGradient(
        ...([leftAt, gradient.stride, by.byteOffset, rightAt, right.stride, width] as const),
        ...([leftRows, rightRows, upstream.length] as const),
      );
      gradient.values.set(leftValues);
    },
  };
}
