/**
 * The functions of `row-dots.ts` by SIMD kernels, to the bit, for rows that are others at every call: they are copied to
 * where kernels reach them, so tables should hold the rows that take part and no more.
 */
import { Arena } from '../simd/arena.js';
import { kernelsRun, openKernels } from '../simd/kernels.js';
import { addRowDots, addRowDotsGradient, type RowPairs, type Rows } from './row-dots.js';

/** Dot products of paired rows, with their gradients. */
export interface RowDots {
  addRowDots: typeof addRowDots;
  addRowDotsGradient: typeof addRowDotsGradient;
}

/** With memory of its own, which grows to twice the largest call; plain TypeScript where there are no kernels. */
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
