/** Frozen text vectors, each computed once and kept on disk, whatever computes them. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { WorkbenchError } from '../run/errors.js';
import type { EncoderCache } from './encoder-cache.js';
import {
  distinctTexts,
  type EncodedTexts,
  type EncodeOptions,
  isBlank,
  noCounts,
  normalizeL2,
  refuseOverlong,
  type StateEncoder,
  surelyFits,
  timesAsked,
} from './state-encoder.js';

/** What computes the vectors that no cache holds. */
export interface TextEvaluator extends Pick<StateEncoder, 'id' | 'name' | 'dim' | 'prefixBlock'> {
  /** What else tells vectors apart, such as the device. */
  readonly mode: string;
  /** Where it is, for errors. */
  readonly place: string;
  /** Tokens of a text and the special ones around it; `Infinity` where that is not known. */
  readonly contextLength: number;
  /** Tokens of a text that are never read, whatever the budget: of special ones, and of a place that stays free. */
  readonly reserved: number;
  /** Most tokens of a text that are read, beside the special ones, and how many those are. */
  limits(): Promise<{ most: number; special: number }>;
  countTokens(text: string): Promise<number>;
  /**
   * Evaluates texts in any order, of each its newest tokens up to the budget.
   * @throws what goes wrong; what was told by then counts
   */
  evaluate(texts: readonly string[], options: EvaluateOptions): Promise<void>;
  /** Milliseconds that it has computed so far. @throws WorkbenchError `data` where it is not what `id` names any more */
  check(): Promise<void>;
  dispose(): Promise<void>;
}

/** How texts are evaluated, and who is told. */
export interface EvaluateOptions {
  /** Most tokens of a text. */
  budget: number;
  /** Texts side by side; default as many as it can. */
  lanes: number | undefined;
  stopped(): boolean;
  signal: AbortSignal | undefined;
  /** @param place of `texts` @param vector empty where the text has no token that is known */
  onVector(place: number, encoded: { vector: ArrayLike<number>; evaluated: number; reused: number }): void;
}

/** Texts that are taken on, or counted, before anything else gets its turn: a killed run can lose so many vectors. */
const turnSize = 256;
/** Milliseconds between two looks for vectors that somebody else is making. */
const lookEvery = 200;

/**
 * A vector depends on the text and on the evaluator's `id` alone, not on the cache. What another
 * call or process is encoding is waited for rather than encoded twice.
 * @param cache closed with the encoder, as the evaluator is
 * @param normalize whether vectors are scaled to length 1
 */
export function cachedEncoder(evaluator: TextEvaluator, cache: EncoderCache, normalize: boolean): StateEncoder {
  const { id, name, mode, dim, place: evaluatorPlace, contextLength, reserved, prefixBlock } = evaluator;
  const store = cache.space({ encoder: id, name, mode, dim });
  const counters = noCounts();

  async function countTokens(texts: readonly string[]): Promise<Int32Array> {
    const { distinct, rows } = distinctTexts(texts);
    const counts = new Int32Array(distinct.length);
    for (const [place, text] of distinct.entries()) {
      if (place % turnSize === turnSize - 1) await setImmediate();
      counts[place] = await evaluator.countTokens(text);
    }
    return rows.map((row) => counts[row]!);
  }
