/** The interface of everything that turns texts into fixed vectors. */

/** Distinct texts once each, and for every asked text the row that holds its vector. */
export interface EncodedTexts {
  /** float32 [numDistinct, dim], row-major. */
  matrix: Float32Array;
  /** int32 [number of asked texts]: row of `matrix`. */
  rows: Int32Array;
  dim: number;
}

/** How much of each text is read, who is told how far it is, and what stops it. */
export interface EncodeOptions {
  /** Longest input in tokens; the oldest (first) tokens are dropped. Default: the model's own limit. */
  maxTokens?: number;
  /** What becomes of longer texts: `refuse` is an error before anything is encoded. Default `drop-oldest`. */
  overlong?: 'drop-oldest' | 'refuse';
  /** Called with distinct texts done, of how many, and tokens evaluated and served from a prefix so far. */
  onProgress?: (done: number, total: number, tokens: number, reusedTokens: number) => void;
  signal?: AbortSignal;
  /** How many texts may be encoded side by side, asked anew every few hundred texts; 1 at least. Default: as many as there are lanes. */
  lanes?: () => number;
}

/** Cumulative counts of one encoder object. */
export interface EncoderCounters {
  /** Texts asked for, duplicates included. */
  requests: number;
  /**
   * Tokens of the texts asked for, duplicates included: what a program would have evaluated that shares nothing, keeps
   * nothing and evaluates every text whole. Blank texts have none.
   */
  askedTokens: number;
  /** Forward passes of the model: distinct texts that no cache held. */
  encodes: number;
  /** Distinct texts that the disk cache held. */
  cacheHits: number;
  /** Distinct texts whose vector in the disk cache did not fit its checksum; they count as encodes. */
  damaged: number;
  /** Tokens evaluated. */
  tokens: number;
  /** Tokens that were evaluated already, with a text that begins alike. */
  reusedTokens: number;
  /** Seconds spent in the model. */
  seconds: number;
}

/** The counts of an encoder that has done nothing. */
export function noCounts(): EncoderCounters {
  return { requests: 0, askedTokens: 0, encodes: 0, cacheHits: 0, damaged: 0, tokens: 0, reusedTokens: 0, seconds: 0 };
}

/** Turns texts into vectors of one length; equal texts get equal vectors. Dispose it after use. */
export interface StateEncoder {
  /** Names everything the vectors depend on (model hash, pooling, normalisation, library): part of checkpoints and cache keys. */
  readonly id: string;
  /** What to call it in reports, such as the model file's name. */
  readonly name: string;
  readonly dim: number;
  /** Tokens of a beginning that are kept together for the next text; 0 where every text is evaluated whole. */
  readonly prefixBlock: number;
  readonly counters: EncoderCounters;
  /** @throws WorkbenchError `data` for a text that is refused, `stopped`, and what the model's own errors are */
  encode(texts: readonly string[], options?: EncodeOptions): Promise<EncodedTexts>;
  /** uint8 [texts.length]: 1 where the cache holds the vector, so that no model is needed for it; nothing is encoded. */
  held(texts: readonly string[], options?: Pick<EncodeOptions, 'maxTokens'>): Uint8Array;
  /** int32 [texts.length]: tokens of each text, special ones not counted, however long; nothing is encoded. */
  countTokens(texts: readonly string[]): Promise<Int32Array>;
  dispose(): Promise<void>;
}
