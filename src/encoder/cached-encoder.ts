/** Frozen text vectors, each computed once and cached on disk. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { WorkbenchError } from '../run/errors.js';
import type { EncoderCache } from './encoder-cache.js';
import {
  distinctTexts,
  type EncodeOptions,
  type EncoderCounters,
  isBlank,
  noCounts,
  normalizeL2,
  refuseOverlong,
  type StateEncoder,
  surelyFits,
  timesAsked,
} from './state-encoder.js';

/** Model that computes vectors missing from the cache. */
export interface TextEvaluator extends Pick<StateEncoder, 'id' | 'name' | 'dim'> {
  /** Tokens of a beginning that are kept together for the next text; 0 where every text is evaluated whole. */
  readonly prefixBlock: number;
  /** Other factors of the vectors, such as the device. */
  readonly mode: string;
  /** Path or address, for errors. */
  readonly place: string;
  /** Tokens of a text and the special ones around it; `Infinity` where that is not known. */
  readonly contextLength: number;
  /** Tokens never available for text: special ones, and one that stays free. */
  readonly reserved: number;
  /** Maximum tokens of a text without special ones. */
  mostTokens(): Promise<number>;
  countTokens(text: string): Promise<number>;
  /** Evaluates texts in any order, of each its newest tokens up to the budget. @throws errors of the model; reported vectors are kept */
  evaluate(texts: readonly string[], options: EvaluateOptions): Promise<void>;
  /** Asked after each turn. @throws WorkbenchError `data` where it is not what `id` names any more */
  check(): Promise<void>;
  dispose(): Promise<void>;
}

export interface EvaluateOptions {
  budget: number;
  /** Most texts side by side on this machine; default as many as it can. */
  lanes: number | undefined;
  stopped(): boolean;
  signal: AbortSignal | undefined;
  /** Seconds of computing, loading not counted. */
  onSeconds(seconds: number): void;
  /** @param index of `texts` @param vector empty where the text has no token that is known */
  onVector(index: number, encoded: { vector: ArrayLike<number>; evaluated: number; reused: number }): void;
}

/** Texts that are taken on, or counted, before anything else gets its turn: a killed run can lose so many vectors. */
const turnSize = 256;
const lookEvery = 200;

type VectorStore = ReturnType<EncoderCache['space']>;

/**
 * A vector depends on the text and the evaluator’s `id` alone. Texts that another process is encoding are waited for.
 * @param cache closed with the encoder, as the evaluator is
 * @param normalize whether vectors are scaled to length 1
 */
export function cachedEncoder(evaluator: TextEvaluator, cache: EncoderCache, normalize: boolean): StateEncoder {
  const { id, name, mode, dim, contextLength, reserved } = evaluator;
  const store = cache.space({ encoder: id, name, mode, dim });
  const counters = noCounts();
  const budgetOf = (maxTokens = contextLength) => Math.min(maxTokens, contextLength);

  async function countTokens(texts: readonly string[]): Promise<Int32Array> {
    const { distinct, rows } = distinctTexts(texts);
    const counts = new Int32Array(distinct.length);
    for (const [index, text] of distinct.entries()) {
      if (index % turnSize === turnSize - 1) await setImmediate();
      counts[index] = await evaluator.countTokens(text);
    }
    return rows.map((row) => counts[row]!);
  }

  return {
    ...{ id, name, dim, counters, countTokens },
    held(texts, { maxTokens } = {}) {
      const row = new Float32Array(dim);
      const isHeld = (text: string) => store.read(text, budgetKey(text, budgetOf(maxTokens)), row) !== undefined;
      return Uint8Array.from(texts, (text) => Number(isBlank(text) || isHeld(text)));
    },
    async encode(texts, options = {}) {
      const { distinct, rows } = distinctTexts(texts);
      const budget = budgetOf(options.maxTokens);
      if (options.overlong === 'refuse' && distinct.some((text) => !surelyFits(text, budget - reserved))) {
        const where = Number.isFinite(contextLength) ? ` (context of ${contextLength} tokens)` : '';
        const limit = Math.min(budget, await evaluator.mostTokens());
        await refuseOverlong(distinct, limit, evaluator.place + where, countTokens);
      }
      counters.requests += texts.length;
      const encoding = new Encoding(distinct, budget, { evaluator, store, normalize, counters }, options);
      await encoding.run();
      const asked = timesAsked(rows, distinct.length);
      asked.forEach((times, index) => (counters.askedTokens += times * encoding.inputTokens[index]!));
      return { matrix: encoding.matrix, rows, dim };
    },
    async dispose() {
      await evaluator.dispose();
      await cache.close();
    },
  };
}

/** One call: fills a matrix with the vectors of distinct texts. */
class Encoding {
  /** float32 [texts, dim]. */
  readonly matrix: Float32Array;
  /** Tokens of each text's input, special ones included; 0 for blank texts. */
  readonly inputTokens: Int32Array;
  #done = 0;
  #reported = -1;
  #tokens = 0;
  #reusedTokens = 0;

  constructor(
    readonly texts: readonly string[],
    readonly budget: number,
    readonly own: { evaluator: TextEvaluator; store: VectorStore; normalize: boolean; counters: EncoderCounters },
    readonly options: EncodeOptions,
  ) {
    this.matrix = new Float32Array(texts.length * own.evaluator.dim);
    this.inputTokens = new Int32Array(texts.length);
  }

  /** @throws WorkbenchError `stopped`; errors of the evaluator. The vectors until then are kept */
  async run(): Promise<void> {
    const { texts } = this;
    const { signal } = this.options;
    let missing = this.#missingOf([...texts.keys()]);
    // Texts that begin alike come into one turn.
    if (this.own.evaluator.prefixBlock > 0) missing.sort((a, b) => (texts[a]! < texts[b]! ? -1 : 1));
    while (missing.length > 0 && !signal?.aborted) {
      const elsewhere: number[] = [];
      for (let at = 0; at < missing.length && !signal?.aborted; at += turnSize) {
        elsewhere.push(...(await this.#encodeFree(missing.slice(at, at + turnSize))));
      }
      missing = elsewhere;
      if (missing.length > 0) await setTimeout(lookEvery);
      if (!signal?.aborted) missing = this.#missingOf(missing);
    }
    if (this.#done === texts.length) return;
    throw new WorkbenchError('stopped', `stopped after ${this.#done} of ${texts.length} texts`, {
      hint: 'The vectors so far are kept; the same command resumes from there.',
    });
  }

  /** Those of the places that the cache does not hold; the others' rows are filled. */
  #missingOf(indices: readonly number[]): number[] {
    const { store, counters } = this.own;
    const missing = indices.filter((index) => {
      if (isBlank(this.texts[index]!)) return false;
      const { text, budget } = this.#keyOf(index);
      const tokens = store.read(text, budget, this.#rowOf(index));
      if (tokens === undefined) return true;
      this.inputTokens[index] = tokens;
      counters.cacheHits++;
      return false;
    });
    counters.damaged = store.damaged;
    this.#report(indices.length - missing.length);
    return missing;
  }

  /** Returns the places leased by other processes. */
  async #encodeFree(indices: readonly number[]): Promise<number[]> {
    const { had, release } = await this.own.store.lease(indices.map((index) => this.#keyOf(index)));
    try {
      // The process that held them may have finished.
      const own = this.#missingOf(indices.filter((_, i) => had[i]));
      if (own.length > 0) await this.#encodeOwn(own);
    } finally {
      await release();
    }
    return indices.filter((_, i) => !had[i]);
  }

  async #encodeOwn(indices: readonly number[]): Promise<void> {
    const { evaluator, store, normalize, counters } = this.own;
    const { signal, lanes } = this.options;
    try {
      await evaluator.evaluate(
        indices.map((index) => this.texts[index]!),
        {
          ...{ budget: this.budget, signal, lanes: lanes?.() },
          stopped: () => signal?.aborted ?? false,
          onSeconds: (seconds) => (counters.seconds += seconds),
          onVector: (i, { vector, evaluated, reused }) => {
            const index = indices[i]!;
            const row = this.#rowOf(index);
            fill(row, vector, normalize, evaluator.place);
            const { text, budget } = this.#keyOf(index);
            store.write(text, budget, row, (this.inputTokens[index] = evaluated + reused));
            counters.encodes++;
            counters.tokens += evaluated;
            counters.reusedTokens += reused;
            this.#tokens += evaluated;
            this.#reusedTokens += reused;
            this.#report(1);
          },
        },
      );
    } finally {
      // It must be known that the id still names what encoded.
      await evaluator.check();
      await store.commit();
    }
  }

  #rowOf(index: number): Float32Array {
    const { dim } = this.own.evaluator;
    return this.matrix.subarray(index * dim, (index + 1) * dim);
  }

  #keyOf(index: number): { text: string; budget: string } {
    const text = this.texts[index]!;
    return { text, budget: budgetKey(text, this.budget) };
  }

  #report(more: number): void {
    this.#done += more;
    if (this.#reported === this.#done) return;
    this.#reported = this.#done;
    this.options.onProgress?.(this.#done, this.texts.length, this.#tokens, this.#reusedTokens);
  }
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
