/**
 * The inner loops of the plain kernel. They are separate functions that take their arrays as arguments, so that the compiler
 * keeps lengths and bases in registers; captured variables made them twice as slow.
 */

/** Differences of one step: float32 and, over the same bytes, int32, whose top bit is the sign. */
export interface Differences {
  readonly values: Float32Array;
  readonly bits: Int32Array;
}

/** Room for `rows` differences of `dim` values. */
export function createDifferences(rows: number, dim: number): Differences {
  const values = new Float32Array(rows * dim);
  return { values, bits: new Int32Array(values.buffer) };
}

/** `query[k] = entities[from + k] + sign * relations[at + k]` */
export function composeQuery(
  query: Float64Array,
  entities: Float32Array,
  from: number,
  relations: Float32Array,
  at: number,
  sign: number,
  dim: number,
): void {
  for (let k = 0; k < dim; k++) query[k] = entities[from + k]! + sign * relations[at + k]!;
}

/**
 * The L1 distance of `query` from the row that begins at `row`; the differences are kept from `at` on.
 * Four sums run side by side because one would wait for each addition.
 */
export function absoluteDistance(
  query: Float64Array,
  rows: Float32Array,
  row: number,
  { values }: Differences,
  at: number,
  dim: number,
): number {
  const whole = dim - (dim % 4);
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let k = 0; k < whole; k += 4) {
    const w = query[k]! - rows[row + k]!;
    const x = query[k + 1]! - rows[row + k + 1]!;
    const y = query[k + 2]! - rows[row + k + 2]!;
    const z = query[k + 3]! - rows[row + k + 3]!;
    values[at + k] = w;
    values[at + k + 1] = x;
    values[at + k + 2] = y;
    values[at + k + 3] = z;
    a += Math.abs(w);
    b += Math.abs(x);
    c += Math.abs(y);
    d += Math.abs(z);
  }
  for (let k = whole; k < dim; k++) a += Math.abs((values[at + k] = query[k]! - rows[row + k]!));
  return a + b + c + d;
}

/** As `absoluteDistance`, Euclidean. */
export function euclideanDistance(
  query: Float64Array,
  rows: Float32Array,
  row: number,
  { values }: Differences,
  at: number,
  dim: number,
): number {
  const whole = dim - (dim % 2);
  let even = 0;
  let odd = 0;
  for (let k = 0; k < whole; k += 2) {
    const x = query[k]! - rows[row + k]!;
    const y = query[k + 1]! - rows[row + k + 1]!;
    values[at + k] = x;
    values[at + k + 1] = y;
    even += x * x;
    odd += y * y;
  }
  for (let k = whole; k < dim; k++) even += (values[at + k] = query[k]! - rows[row + k]!) ** 2;
  return Math.sqrt(even + odd);
}

/**
 * Adds `amount` times the derivative of the L1 distance by the query to `gradient`, and `step` times it to the row. The
 * derivative is the sign, read from the top bit: a branch would be mispredicted half the time.
 */
export function followSigns(
  { bits }: Differences,
  at: number,
  gradient: Float64Array,
  amount: number,
  rows: Float32Array,
  row: number,
  step: number,
  dim: number,
): void {
  for (let k = 0; k < dim; k++) {
    const sign = (bits[at + k]! >> 31) | 1;
    gradient[k]! += amount * sign;
    rows[row + k]! += step * sign;
  }
}

/** As `followSigns` with the differences themselves: for the Euclidean distance, give both factors divided by it. */
export function followDifferences(
  { values }: Differences,
  at: number,
  gradient: Float64Array,
  amount: number,
  rows: Float32Array,
  row: number,
  step: number,
  dim: number,
): void {
  for (let k = 0; k < dim; k++) {
    const value = values[at + k]!;
    gradient[k]! += amount * value;
    rows[row + k]! += step * value;
  }
}

/** As `followSigns`, but moves no row: the signs are kept from `to` on, for `addKept`. */
export function keepSigns(
  { bits }: Differences,
  at: number,
  gradient: Float64Array,
  from: number,
  amount: number,
  kept: Int8Array | Float32Array,
  to: number,
  dim: number,
): void {
  for (let k = 0; k < dim; k++) {
    const sign = (bits[at + k]! >> 31) | 1;
    gradient[from + k]! += amount * sign;
    kept[to + k] = sign;
  }
}

/** As `followDifferences`, but moves no row: the differences are kept from `to` on, for `addKept`. */
export function keepDifferences(
  { values }: Differences,
  at: number,
  gradient: Float64Array,
  from: number,
  amount: number,
  kept: Int8Array | Float32Array,
  to: number,
  dim: number,
): void {
  for (let k = 0; k < dim; k++) {
    const value = values[at + k]!;
    gradient[from + k]! += amount * value;
    kept[to + k] = value;
  }
}

/** `rows[row + k] += step * kept[at + k]` */
export function addKept(
  rows: Float32Array,
  row: number,
  step: number,
  kept: Int8Array | Float32Array,
  at: number,
  dim: number,
): void {
  for (let k = 0; k < dim; k++) rows[row + k]! += step * kept[at + k]!;
}

/** `rows[row + k] += step * gradient[at + k]` */
export function addGradient(
  rows: Float32Array,
  row: number,
  step: number,
  gradient: Float64Array,
  at: number,
  dim: number,
): void {
  for (let k = 0; k < dim; k++) rows[row + k]! += step * gradient[at + k]!;
}

/** The mean of the squares of the gradient that begins at `at`. */
export function meanSquare(gradient: Float64Array, at: number, dim: number): number {
  let sum = 0;
  for (let k = 0; k < dim; k++) sum += gradient[at + k]! * gradient[at + k]!;
  return sum / dim;
}
