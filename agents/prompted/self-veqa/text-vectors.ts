/** Vectors of texts that come up again and again: questions with their topics masked, names of relations. */
import type { StateEncoder } from '../../../src/encoder/state-encoder.js';

export interface TextVectors {
  /** float32 [dim], of length 1 (0 for blank texts), one a text. What is asked again is not encoded again. */
  of(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}

export function textVectors(encoder: StateEncoder): TextVectors {
  const known = new Map<string, Float32Array>();
  return {
    async of(texts, signal) {
      const missing = [...new Set(texts)].filter((text) => !known.has(text));
      if (missing.length > 0) {
        const vectors = await unitVectors(encoder, missing, signal);
        missing.forEach((text, i) => known.set(text, vectors[i]!));
      }
      return texts.map((text) => known.get(text)!);
    },
  };
}

/** float32 [dim] of length 1, one a text. */
export async function unitVectors(
  encoder: StateEncoder,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<Float32Array[]> {
  const { matrix, rows, dim } = await encoder.encode(texts, signal && { signal });
  return texts.map((_, i) => {
    const vector = matrix.slice(rows[i]! * dim, (rows[i]! + 1) * dim);
    const length = Math.sqrt(dot(vector, vector));
    return length > 0 ? vector.map((value) => value / length) : vector;
  });
}

/** Inner product, summed in double precision: the cosine of two vectors of length 1. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
