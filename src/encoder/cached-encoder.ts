/** Frozen text vectors, each computed once and cached on disk. */
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

/** Model that computes vectors missing from the cache. */
export interface TextEvaluator extends Pick<StateEncoder, 'id' | 'name' | 'dim' | 'prefixBlock'> {
  /** Other factors of the vectors, such as the device. */
  readonly mode: string;
  /** Path or address, for errors. */
  readonly place: string;
  /** Tokens of a text and the special ones around it; `Infinity` where that is not known. */
  readonly contextLength: number;
  /** Tokens never available for text: special ones, and one that stays free. */
  readonly reserved: number;
  /** Maximum tokens of a text without special ones, and the count of those. */
  limits(): Promise<{ most: number; special: number }>;
  countTokens(text: string): Promise<number>;
  /**
   * Evaluates texts in any order, of each its newest tokens up to the budget.
   * @throws errors of the model; texts reported by then are kept
   */
  evaluate(texts: readonly string[], options: EvaluateOptions): Promise<void>;
  /** Asked after each turn. @throws WorkbenchError `data` where it is not what `id` names any more */
  check(): Promise<void>;
  dispose(): Promise<void>;
}

/** Token limits and progress callbacks. */
export interface EvaluateOptions {
  /** Most tokens of a text. */
  budget: number;
  /** Most texts side by side on this machine; default as many as it can. */
  lanes: number | undefined;
  stopped(): boolean;
  signal: AbortSignal | undefined;
  /** Seconds of computing, loading not counted. */
  onSeconds(seconds: number): void;
  /** @param place of `texts` @param vector empty where the text has no token that is known */
  onVector(place: number, encoded: { vector: ArrayLike<number>; evaluated: number; reused: number }): void;
}

/** Texts that are taken on, or counted, before anything else gets its turn: a killed run can lose so many vectors. */
const turnSize = 256;
/** Milliseconds between polls for vectors that another process is making. */
const lookEvery = 200;

/**
 * A vector depends on the text and on the evaluator's `id` alone, not on the cache. What another
 * call or process is encoding is waited for rather than encoded twice.
 * @param cache closed with the encoder, as the evaluator is
 * @param normalize whether vectors are scaled to length 1
 */
export function cachedEncoder(evaluator: TextEvaluator, cache: EncoderCache, normalize: boolean): StateEncoder {
  const { id, name, mode, dim, contextLength, reserved, prefixBlock } = evaluator;
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

  function held(texts: readonly string[], { maxTokens }: Pick<EncodeOptions, 'maxTokens'> = {}): Uint8Array {
    const budget = Math.min(maxTokens ?? contextLength, contextLength);
    const row = new Float32Array(dim);
    return Uint8Array.from(texts, (text) => Number(isBlank(text) || store.read(text, budgetKey(text, budget), row)));
  }

  async function encode(texts: readonly string[], options: EncodeOptions = {}) {
    const { maxTokens, overlong, onProgress, signal, lanes: most } = options;
    const { distinct, rows } = distinctTexts(texts);
    const budget = Math.min(maxTokens ?? contextLength, contextLength);
    if (overlong === 'refuse' && distinct.some((text) => !surelyFits(text, budget - reserved))) {
      const limit = Math.min(budget, (await evaluator.limits()).most);
      const where = Number.isFinite(contextLength) ? ` (context of ${contextLength} tokens)` : '';
      await refuseOverlong(distinct, limit, evaluator.place + where, countTokens);
    }
    const matrix = new Float32Array(distinct.length * dim);
    const rowOf = (place: number) => matrix.subarray(place * dim, (place + 1) * dim);
    const keyOf = (place: number) => ({ text: distinct[place]!, budget: budgetKey(distinct[place]!, budget) });
    let done = 0;
    const spent = { tokens: 0, reused: 0 };
    /** Tokens of each text's input, special ones included; -1 while not counted. */
    const inputTokens = Int32Array.from(distinct, (text) => (isBlank(text) ? 0 : -1));
    let reported = -1;
    const report = () => {
      if (reported !== done) onProgress?.((reported = done), distinct.length, spent.tokens, spent.reused);
    };

    /** Those of the places that the cache does not hold; the others' rows are filled. */
    function missingOf(places: readonly number[]): number[] {
      const missing = places.filter((place) => {
        const { text, budget: kept } = keyOf(place);
        if (isBlank(text)) return false;
        if (!store.read(text, kept, rowOf(place))) return true;
        inputTokens[place] = store.readTokens(text, kept) ?? -1;
        counters.cacheHits++;
        return false;
      });
      counters.damaged = store.damaged;
      done += places.length - missing.length;
      report();
      return missing;
    }

    /** Encodes and stores the indices that no other process has leased. */
    async function encodeOwn(places: readonly number[]): Promise<void> {
      const evaluated = places.map((place) => distinct[place]!);
      try {
        await evaluator.evaluate(evaluated, {
          ...{ budget, signal, lanes: most?.() },
          stopped: () => signal?.aborted ?? false,
          onSeconds: (seconds) => (counters.seconds += seconds),
          onVector(i, { vector, evaluated: tokens, reused }) {
            const row = rowOf(places[i]!);
            fill(row, vector, normalize, evaluator.place);
            const { text, budget: kept } = keyOf(places[i]!);
            store.write(text, kept, row);
            store.writeTokens(text, kept, (inputTokens[places[i]!] = tokens + reused));
            counters.encodes++;
            counters.tokens += tokens;
            counters.reusedTokens += reused;
            spent.tokens += tokens;
            spent.reused += reused;
            done++;
            report();
          },
        });
      } finally {
        // It must be known that the id still names what encoded.
        await evaluator.check();
        await store.commit();
      }
    }

    /** Returns the indices leased by other processes. */
    async function encodeFree(places: readonly number[]): Promise<number[]> {
      const { had, release } = await store.lease(places.map(keyOf));
      try {
        // The process that held them may have finished.
        const own = missingOf(places.filter((_, i) => had[i]));
        if (own.length > 0) await encodeOwn(own);
      } finally {
        await release();
      }
      return places.filter((_, i) => !had[i]);
    }

    /** Counts the tokens of vectors that an earlier version left in the cache, once and for all. */
    async function countUncounted(): Promise<void> {
      const places = [...inputTokens.keys()].filter((place) => inputTokens[place] === -1);
      if (places.length === 0) return;
      const { most: fit, special } = await evaluator.limits();
      const counts = await countTokens(places.map((place) => distinct[place]!));
      places.forEach((place, i) => {
        const { text, budget: kept } = keyOf(place);
        store.writeTokens(text, kept, (inputTokens[place] = Math.min(counts[i]!, budget, fit) + special));
      });
      await store.commit();
    }

    counters.requests += texts.length;
    let missing = missingOf(distinct.map((_, place) => place));
    // Texts that begin alike come into one turn.
    if (prefixBlock > 0) missing.sort((a, b) => (distinct[a]! < distinct[b]! ? -1 : 1));
    while (missing.length > 0 && !signal?.aborted) {
      const elsewhere: number[] = [];
      for (let at = 0; at < missing.length && !signal?.aborted; at += turnSize) {
        elsewhere.push(...(await encodeFree(missing.slice(at, at + turnSize))));
      }
      missing = elsewhere;
      if (missing.length > 0) await setTimeout(lookEvery);
      if (!signal?.aborted) missing = missingOf(missing);
    }
    if (done < distinct.length) {
      throw new WorkbenchError('stopped', `stopped after ${done} of ${distinct.length} texts`, {
        hint: 'The vectors so far are kept; the same command resumes from there.',
      });
    }
    await countUncounted();
    timesAsked(rows, distinct.length).forEach((times, place) => (counters.askedTokens += times * inputTokens[place]!));
    return { matrix, rows, dim } satisfies EncodedTexts;
  }

  return {
    ...{ id, name, dim, prefixBlock, counters, encode, held, countTokens },
    async dispose() {
      await evaluator.dispose();
      await cache.close();
    },
  };
}

/** Effective token budget: a short text has the same vector under every budget, so all budgets share it. */
function budgetKey(text: string, maxTokens: number): string {
  return surelyFits(text, maxTokens) ? 'whole' : String(maxTokens);
}

function fill(row: Float32Array, vector: ArrayLike<number>, normalize: boolean, place: string): void {
  // A text of nothing but characters the tokenizer drops has no tokens; its vector is zero.
  if (vector.length === 0) return;
  const exact = Float64Array.from(vector);
  if (exact.length !== row.length || !exact.every(Number.isFinite)) {
    throw new WorkbenchError('data', `expected ${row.length} finite numbers, got another vector, at ${place}`, {
      hint: 'The model is damaged or does not suit embeddings: choose another.',
    });
  }
  if (normalize) normalizeL2(exact);
  row.set(exact);
}
