/** The interface of everything that turns texts into fixed vectors, and what all encoders have in common. */
import { WorkbenchError } from '../run/errors.js';

/** Distinct texts once each, and for every asked text the row that holds its vector. */
export interface EncodedTexts {
  /** float32 [numDistinct, dim], row-major. */
  matrix: Float32Array;
  /** int32 [number of asked texts]: row of `matrix`. */
  rows: Int32Array;
  dim: number;
}

/** Token budget, progress callback and abort signal of a call. */
export interface EncodeOptions {
  /** Longest input in tokens; the oldest (first) tokens are dropped. Default: the model's own limit. */
  maxTokens?: number;
  /** Handling of longer texts: `refuse` is an error before anything is encoded. Default `drop-oldest`. */
  overlong?: 'drop-oldest' | 'refuse';
  /** Called with distinct texts done, of how many, and tokens evaluated and served from a prefix so far. */
  onProgress?: (done: number, total: number, tokens: number, reusedTokens: number) => void;
  signal?: AbortSignal | undefined;
  /** Parallel texts, read again every few hundred texts; at least 1. Default: the number of contexts. */
  lanes?: () => number;
}

/** Cumulative counts of one encoder object. */
export interface EncoderCounters {
  requests: number;
  /** Tokens of the texts asked for, duplicates included: the cost without any sharing. Blank texts have none. */
  askedTokens: number;
  /** Forward passes of the model: distinct texts that no cache held. */
  encodes: number;
  cacheHits: number;
  /** Distinct texts whose vector in the disk cache did not fit its checksum; they count as encodes. */
  damaged: number;
  tokens: number;
  /** Tokens that were evaluated already, with a text that begins alike. */
  reusedTokens: number;
  seconds: number;
}

/** The counts of an encoder that has done nothing. */
export function noCounts(): EncoderCounters {
  return { requests: 0, askedTokens: 0, encodes: 0, cacheHits: 0, damaged: 0, tokens: 0, reusedTokens: 0, seconds: 0 };
}

/** Turns texts into vectors of one length; equal texts get equal vectors. Dispose it after use. */
export interface StateEncoder {
  /** Everything the vectors depend on (model hash, pooling, normalisation, library): part of checkpoints and cache keys. */
  readonly id: string;
  readonly name: string;
  readonly dim: number;
  readonly counters: EncoderCounters;
  /** @throws WorkbenchError `data` for a text that is refused, `stopped`, and what the model's own errors are */
  encode(texts: readonly string[], options?: EncodeOptions): Promise<EncodedTexts>;
  /** uint8 [texts.length]: 1 where the cache holds the vector, so that no model is needed for it; nothing is encoded. */
  held(texts: readonly string[], options?: Pick<EncodeOptions, 'maxTokens'>): Uint8Array;
  /** int32 [texts.length]: tokens of each text, special ones not counted, however long; nothing is encoded. */
  countTokens(texts: readonly string[]): Promise<Int32Array>;
  dispose(): Promise<void>;
}

/** Each of the texts once, in the order of first appearance, and int32 [texts.length] which of them each is. */
export function distinctTexts(texts: readonly string[]): { distinct: string[]; rows: Int32Array } {
  const places = new Map<string, number>();
  const rows = new Int32Array(texts.length);
  texts.forEach((text, i) => {
    let place = places.get(text);
    if (place === undefined) places.set(text, (place = places.size));
    rows[i] = place;
  });
  return { distinct: [...places.keys()], rows };
}

/** int32 [count]: how many of the asked texts each distinct one is. */
export function timesAsked(rows: Int32Array, count: number): Int32Array {
  const times = new Int32Array(count);
  for (const row of rows) times[row]!++;
  return times;
}

/** True for a blank text: its vector is zero and no model sees it. */
export const isBlank = (text: string): boolean => text.trim() === '';

/** Scales to length 1 in place, summing in double precision; a zero vector stays zero. */
export function normalizeL2(vector: Float32Array | Float64Array): void {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0) return;
  const scale = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! * scale;
}

/** True when a text surely has fewer than `limit` tokens: plain ASCII never has more tokens than characters. */
export const surelyFits = (text: string, limit: number): boolean => text.length < limit && /^[\x20-\x7e]*$/.test(text);

/**
 * Looks at the tokens of those texts alone that may be too long.
 * @param limit most tokens, special ones not counted
 * @param where whose limit it is, such as `m.gguf (context of 512 tokens)`
 * @throws WorkbenchError `data` that names the first text with more
 */
export async function refuseOverlong(
  texts: readonly string[],
  limit: number,
  where: string,
  countTokens: StateEncoder['countTokens'],
): Promise<void> {
  const long = texts.filter((text) => !surelyFits(text, limit));
  if (long.length === 0) return;
  const counts = await countTokens(long);
  const index = counts.findIndex((count) => count > limit);
  if (index === -1) return;
  const text = long[index]!;
  const begin = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  throw new WorkbenchError(
    'data',
    `expected texts of at most ${limit} tokens, got one of ${counts[index]}: ${JSON.stringify(begin)}, at ${where}`,
    { hint: 'Shorten the texts by their budget in tokens, or choose a model with a longer context.' },
  );
}

/** float32 [dim] of length 1 (0 for blank texts), one an asked text; equal texts share one array. */
export const unitVectors = async (
  encoder: StateEncoder,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<Float32Array[]> => unitRows(await encoder.encode(texts, { signal }));

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

/** Inner product, summed in double precision. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k]! * b[k]!;
  return sum;
}

/** An encoder without a model, of vectors without numbers. Asking it for a vector is an error. */
export function noEncoder(): StateEncoder {
  const refuse = () =>
    Promise.reject(new WorkbenchError('failure', 'expected no texts, got some, at a walk without texts'));
  return {
    ...{ id: 'none', name: 'none', dim: 0 },
    counters: noCounts(),
    encode: refuse,
    held: (texts) => new Uint8Array(texts.length),
    countTokens: refuse,
    dispose: () => Promise.resolve(),
  };
}
