/**
 * Vectors of a table as whole numbers of 16 bits, whose distances the kernels of `src/simd` take exactly, and how far such a
 * distance may be from that of the vectors themselves.
 */
import type { EmbeddingTable, Norm } from './embedding-table.js';

/** How a table is rounded: its vectors, and a sum or difference of an entity and a relation, times `scale`. */
export interface Rounding {
  norm: Norm;
  dim: number;
  scale: number;
  /** Values of a rounded vector: `dim` and zeros, a multiple of `lanes`. */
  width: number;
}

/** Values that the kernels take at a time. */
const lanes = 8;

/**
 * The finest rounding under which nothing overflows: differences of two vectors in 16 bits, and their L1 distance in eight
 * unsigned sums of 16 bits each, or their squared L2 distance in 32 bits.
 * @returns undefined where a number of the table is not finite
 */
export function roundingOf({ entities, relations, dim, norm }: EmbeddingTable): Rounding | undefined {
  const entity = sizes(entities, dim, norm);
  const relation = sizes(relations, dim, norm);
  const largest = 2 * entity.value + relation.value;
  const sum = 2 * entity.sum + relation.sum;
  // Two vectors are each rounded by up to a half a value.
  const width = Math.ceil(dim / lanes) * lanes;
  const room = norm === 1 ? 65535 - width / lanes : 46340 - Math.sqrt(dim);
  const scale = Math.min(32766 / largest, room / sum);
  if (!Number.isFinite(largest + sum) || scale <= 0) return undefined;
  return { norm, dim, width, scale: Number.isFinite(scale) ? scale : 1 };
}

/** The largest absolute value of all rows, and the largest sum: of the values of a lane, or the L2 norm. */
function sizes(rows: Float32Array, dim: number, norm: Norm): { value: number; sum: number } {
  let value = 0;
  let sum = 0;
  const sums = new Float64Array(lanes);
  for (let row = 0; row < rows.length; row += dim) {
    sums.fill(0);
    for (let k = 0; k < dim; k++) {
      const x = Math.abs(rows[row + k]!);
      value = Math.max(value, x);
      if (norm === 1) sums[k % lanes]! += x;
      else sums[0]! += x * x;
    }
    for (const one of sums) sum = Math.max(sum, one);
  }
  return { value, sum: norm === 1 ? sum : Math.sqrt(sum) };
}

/**
 * Rounds a vector.
 * @param vector values from `from` on
 * @param out where `to` is the place of the first value; zeros follow the vector's values there already
 * @returns the distance of the rounded vector from the vector times the scale
 */
export function roundVector(
  { norm, dim, scale }: Rounding,
  vector: Float32Array | Float64Array,
  from: number,
  out: Int16Array,
  to: number,
): number {
  let lost = 0;
  for (let k = 0; k < dim; k++) {
    const x = vector[from + k]! * scale;
    const whole = Math.round(x);
    out[to + k] = whole;
    lost += norm === 1 ? Math.abs(x - whole) : (x - whole) * (x - whole);
  }
  return norm === 1 ? lost : Math.sqrt(lost);
}
