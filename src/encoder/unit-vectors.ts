/** Vectors of texts at length 1, whose inner product is their cosine. */
import type { EncodedTexts, StateEncoder } from './state-encoder.js';

/** float32 [dim] of length 1 (0 for blank texts), one an asked text; equal texts share one array. */
export async function unitVectors(
  encoder: StateEncoder,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<Float32Array[]> {
  return unitRows(await encoder.encode(texts, signal && { signal }));
}

/** The same of what is encoded already. Views of a copy: what is given stays as it is. */
export function unitRows({ matrix, rows, dim }: EncodedTexts): Float32Array[] {
  const unit = matrix.slice();
  for (let begin = 0; begin < unit.length; begin += dim) {
    const row = unit.subarray(begin, begin + dim);
    const length = Math.sqrt(dot(row, row)) || 1;
    for (let k = 0; k < dim; k++) row[k]! /= length;
  }
  return Array.from(rows, (row) => unit.subarray(row * dim, (row + 1) * dim));
}

/** Inner product, summed in double precision. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k]! * b[k]!;
  return sum;
}
