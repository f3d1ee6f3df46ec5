/** The nearest of some texts by the cosine of their vectors. */
import type { StateEncoder } from '../../src/encoder/state-encoder.js';

/** Finds, for each asked text, the place of the nearest known one; ties go to the first. */
export type NearestText = (asked: readonly string[], signal?: AbortSignal) => Promise<number[]>;

/**
 * @param known at least one; encoded at the first call
 * @param open asked for at the first call
 */
export function nearestText(known: readonly string[], open: () => Promise<StateEncoder>): NearestText {
  let table: Promise<Float32Array[]> | undefined;
  const unitRows = async (texts: readonly string[], signal?: AbortSignal) => {
    const encoder = await open();
    const { matrix, rows, dim } = await encoder.encode(texts, signal ? { signal } : {});
    return Array.from(rows, (row) => unit(matrix.subarray(row * dim, (row + 1) * dim)));
  };
  return async (asked, signal) => {
    const knownRows = await (table ??= unitRows(known));
    return (await unitRows(asked, signal)).map((row) => {
      let best = 0;
      let bestCosine = -Infinity;
      knownRows.forEach((other, place) => {
        const cosine = dot(row, other);
        if (cosine > bestCosine) [best, bestCosine] = [place, cosine];
      });
      return best;
    });
  };
}

/** A zero vector stays zero. */
function unit(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((value) => value / norm);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
