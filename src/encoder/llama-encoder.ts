/** Frozen text vectors of a local GGUF model, each computed once and kept on disk. */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type LlamaDevice, llamaVersion } from '../llm/llama-library.js';
import { WorkbenchError } from '../run/errors.js';
import { hashedFile } from '../run/files.js';
import { type Batch, blockTokens, encodeBatch } from './prefix-context.js';
import { readEmbeddingModel } from './embedding-model.js';
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
import { openEncoderCache } from './encoder-cache.js';
import {
  type LlamaContexts,
  type LlamaVocabulary,
  loadLlamaContexts,
  loadVocabulary,
  reservedPlaces,
} from './llama-contexts.js';
import type { EncoderSettings } from './settings.js';

/** Which model, how it computes, and where its vectors are kept. */
export interface LlamaEncoderOptions {
  modelPath: string;
  settings: Pick<EncoderSettings, 'pooling' | 'normalize' | 'workers' | 'prefixReuse'> & { gpu: LlamaDevice };
  cacheFolder: string;
}

/** Texts that are taken on, or counted, before anything else gets its turn: a killed run can lose so many vectors. */
const turnSize = 256;
/** Milliseconds between two looks for vectors that somebody else is making. */
const lookEvery = 200;

/**
 * Opens a model file. It is checked and hashed at once; the model itself loads at the first text that no cache holds.
 * A vector depends on the text and on `id` alone: not on order, neighbours, number of workers or the cache. What another
 * call or process is encoding is waited for rather than encoded twice.
 * @throws WorkbenchError `data` for a file that cannot serve or changes while it is used, `native` without node-llama-cpp or lmdb
 */
export async function openLlamaEncoder(options: LlamaEncoderOptions): Promise<StateEncoder> {
  const { modelPath, settings } = options;
  const model = readEmbeddingModel(modelPath, settings.pooling);
  const { dim, contextLength, pooling, causal } = model;
  const version = llamaVersion();
  const cache = await openEncoderCache(options.cacheFolder);
  const file = await hashedFile(modelPath, (path) => cache.fileHash(path)).catch(async (error: unknown) => {
    await cache.close();
    throw error;
  });
  const name = basename(modelPath);
  const scale = settings.normalize ? 'l2' : 'raw';
  const reuse = settings.prefixReuse === 'auto' && causal;
  const evaluated = reuse ? `blocks-${blockTokens}` : 'single';
  const id = `gguf:${file.hash}:${pooling}:${scale}:${evaluated}:node-llama-cpp@${version}`;
  const store = cache.space({ encoder: id, name, mode: settings.gpu === 'off' ? 'cpu' : 'gpu', dim });
  const counters = noCounts();
  const count = settings.workers || Math.min(4, availableParallelism());
  let contexts: Promise<LlamaContexts> | undefined;
  let vocabulary: ReturnType<typeof loadVocabulary> | undefined;

  function openContexts(): Promise<LlamaContexts> {
    contexts ??= loadLlamaContexts({ modelPath, model, count, device: settings.gpu, reuse });
    contexts.catch(() => (contexts = undefined));
    return contexts;
  }

  /** The tokens of the model: of the one that is loaded, else without loading its weights. */
  function openVocabulary(): Promise<LlamaVocabulary> {
    if (contexts !== undefined) return contexts;
    vocabulary ??= loadVocabulary(modelPath, contextLength);
    vocabulary.catch(() => (vocabulary = undefined));
    return vocabulary;
  }

  async function countTokens(texts: readonly string[]): Promise<Int32Array> {
    const { distinct, rows } = distinctTexts(texts);
    const counts = new Int32Array(distinct.length);
    if (distinct.length > 0) {
      const { tokenize } = await openVocabulary();
      for (const [place, text] of distinct.entries()) {
        if (place % turnSize === turnSize - 1) await setImmediate();
        counts[place] = tokenize(text).length;
      }
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
    if (overlong === 'refuse' && distinct.some((text) => !surelyFits(text, budget - reservedPlaces))) {
      const limit = Math.min(budget, (await openVocabulary()).most);
      await refuseOverlong(distinct, limit, `${modelPath} (context of ${contextLength} tokens)`, countTokens);
    }
    const matrix = new Float32Array(distinct.length * dim);
    const rowOf = (place: number) => matrix.subarray(place * dim, (place + 1) * dim);
    const keyOf = (place: number) => ({ text: distinct[place]!, budget: budgetKey(distinct[place]!, budget) });
    let done = 0;
    const spent = { tokens: 0, reused: 0 };
    /** Of each text's input, special ones included; -1 while nobody has counted. */
    const inputTokens = Int32Array.from(distinct, (text) => (isBlank(text) ? 0 : -1));
    let told = -1;
    const tell = () => {
      if (told !== done) onProgress?.((told = done), distinct.length, spent.tokens, spent.reused);
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
      tell();
      return missing;
    }

    /** Encodes and keeps places that nobody else is at. */
    async function encodeOwn(places: readonly number[]): Promise<void> {
      const model = await openContexts();
      const newest = Math.min(budget, model.most);
      const tokens = places.map((place) => model.tokenize(distinct[place]!).slice(-newest));
      const longest = tokens.reduce((most, { length }) => Math.max(most, length), 0);
      const onVector: Batch['onVector'] = (i, { vector, evaluated, reused }) => {
        const row = rowOf(places[i]!);
        fill(row, vector, settings.normalize, modelPath);
        const { text, budget: kept } = keyOf(places[i]!);
        store.write(text, kept, row);
        store.writeTokens(text, kept, (inputTokens[places[i]!] = evaluated + reused));
        counters.encodes++;
        counters.tokens += evaluated;
        counters.reusedTokens += reused;
        spent.tokens += evaluated;
        spent.reused += reused;
        done++;
        tell();
      };
      try {
        await model.use(longest, async (all) => {
          // Loading the model is not the rate of encoding.
          const started = performance.now();
          const free = all.slice(0, Math.max(1, most?.() ?? count));
          const stopped = () => signal?.aborted ?? false;
          await encodeBatch(free, { tokens, reuse, onVector, stopped }).finally(() => {
            counters.seconds += (performance.now() - started) / 1000;
          });
        });
      } finally {
        // It must be known that the id still names the model that encoded.
        await file.check();
        await store.commit();
      }
    }

    /** Returns those that somebody else is at. */
    async function encodeFree(places: readonly number[]): Promise<number[]> {
      const { had, release } = await store.lease(places.map(keyOf));
      try {
        // Whoever held them until now may have finished.
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
      const { most: fit, special } = await openVocabulary();
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
    if (reuse) missing.sort((a, b) => (distinct[a]! < distinct[b]! ? -1 : 1));
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
        hint: 'The vectors so far are kept; the same command goes on from there.',
      });
    }
    await countUncounted();
    timesAsked(rows, distinct.length).forEach((times, place) => (counters.askedTokens += times * inputTokens[place]!));
    return { matrix, rows, dim } satisfies EncodedTexts;
  }

  return {
    ...{ id, name, dim, prefixBlock: reuse ? blockTokens : 0, counters, encode, held, countTokens },
    async dispose() {
      await (await contexts?.catch(() => undefined))?.dispose();
      await (await vocabulary?.catch(() => undefined))?.dispose();
      await cache.close();
    },
  };
}

/** The token budget as far as a text can feel it: a short text has one vector whatever the budget, and its uses share it. */
function budgetKey(text: string, maxTokens: number): string {
  return surelyFits(text, maxTokens) ? 'whole' : String(maxTokens);
}

function fill(row: Float32Array, vector: ArrayLike<number>, normalize: boolean, path: string): void {
  // A text of nothing but characters the tokenizer drops has no tokens; its vector is zero.
  if (vector.length === 0) return;
  const exact = Float64Array.from(vector);
  if (exact.length !== row.length || !exact.every(Number.isFinite)) {
    throw new WorkbenchError('data', `expected ${row.length} finite numbers, got another vector, at ${path}`, {
      hint: 'The model file is damaged or does not suit embeddings: choose another.',
    });
  }
  if (normalize) normalizeL2(exact);
  row.set(exact);
}
