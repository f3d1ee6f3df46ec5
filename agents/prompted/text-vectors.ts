/** Sentence vectors that are kept: what agents compare short texts by. */
import { type StateEncoder, unitVectors } from '../../src/encoder/state-encoder.js';

/** Vectors of texts, float32 [dim] each; a text is encoded once. */
export interface TextVectors {
  /** float32 [dim], of length 1 (0 for blank texts), one a text. Repeated texts are encoded once. */
  of(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}

/** Remembers every text that was asked for: meant for few and short ones. */
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
