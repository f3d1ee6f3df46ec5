/** Frozen text vectors of a local GGUF model, each computed once and kept on disk. */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { llamaVersion } from '../llm/llama-library.js';
import { WorkbenchError } from '../run/errors.js';
import { hashedFile } from '../run/hashed-file.js';
import { readEmbeddingModel } from './embedding-model.js';
import { distinctTexts, isBlank, normalizeL2 } from './encoded-texts.js';
import { openEncoderCache } from './encoder-cache.js';
import { type LlamaLanes, loadLlamaLanes } from './llama-lanes.js';
import type { EncoderSettings } from './settings.js';
import type { EncodedTexts, EncodeOptions, EncoderCounters, StateEncoder } from './state-encoder.js';

/** Which model, how it computes, and where its vectors are kept. */
export interface LlamaEncoderOptions {
  modelPath: string;
  settings: Pick<EncoderSettings, 'normalize' | 'workers' | 'gpu'>;
  /** The folder of all caches. */
  cacheFolder: string;
}

/** Vectors that a killed run can lose: those since the last commit. */
const commitEvery = 256;

/**
 * Opens a model file. It is checked and hashed at once; the model itself loads at the first text that no cache holds.
 * A vector depends on the text and on `id` alone: not on order, neighbours, number of workers or the cache.
 * @throws WorkbenchError `data` for a file that cannot serve or changes while it is used, `native` without node-llama-cpp or lmdb
 */
export async function openLlamaEncoder(options: LlamaEncoderOptions): Promise<StateEncoder> {
  const { modelPath, settings } = options;
  const facts = readEmbeddingModel(modelPath);
  const version = llamaVersion();
  const cache = await openEncoderCache(options.cacheFolder);
  const file = await hashedFile(modelPath, (path) => cache.fileHash(path)).catch(async (error: unknown) => {
    await cache.close();
    throw error;
  });
  const name = basename(modelPath);
  const scale = settings.normalize ? 'l2' : 'raw';
  const id = `gguf:${file.hash}:${facts.pooling}:${scale}:single:node-llama-cpp@${version}`;
  const { dim } = facts;
  const store = cache.space({ encoder: id, name, mode: settings.gpu === 'auto' ? 'gpu' : 'cpu', dim });
  const counters: EncoderCounters = { requests: 0, encodes: 0, cacheHits: 0, damaged: 0, tokens: 0, seconds: 0 };
  const laneCount = settings.workers || Math.min(4, availableParallelism());
  let lanes: Promise<LlamaLanes> | undefined;

  /** Keeps what was encoded, once it is known that the id still names the model that encoded it. */
  async function keep(): Promise<void> {
    await file.check();
    await store.commit();
  }

  async function encode(texts: readonly string[], { maxTokens, onProgress, signal }: EncodeOptions = {}) {
    const { distinct, rows } = distinctTexts(texts);
    const budget = Math.min(maxTokens ?? facts.contextLength, facts.contextLength);
    const matrix = new Float32Array(distinct.length * dim);
    const rowOf = (place: number) => matrix.subarray(place * dim, (place + 1) * dim);
    const missing: number[] = [];
    distinct.forEach((text, place) => {
      if (isBlank(text)) return;
      if (store.read(text, budgetKey(text, budget), rowOf(place))) counters.cacheHits++;
      else missing.push(place);
    });
    counters.damaged = store.damaged;
    counters.requests += texts.length;
    let done = distinct.length - missing.length;
    let tokens = 0;
    onProgress?.(done, distinct.length, tokens);
    if (missing.length > 0) {
      lanes ??= loadLlamaLanes(modelPath, facts.contextLength, laneCount, settings.gpu);
      lanes.catch(() => (lanes = undefined));
      const open = await (await lanes).open(budget);
      // Loading the model is not the rate of encoding.
      const started = performance.now();
      let next = 0;
      let failed = false;
      const work = open.map(async (lane) => {
        try {
          while (next < missing.length && !failed && !signal?.aborted) {
            const place = missing[next++]!;
            const text = distinct[place]!;
            const encoded = await lane.encode(text, budget);
            const row = rowOf(place);
            fill(row, encoded.vector, settings.normalize, modelPath);
            store.write(text, budgetKey(text, budget), row);
            counters.encodes++;
            counters.tokens += encoded.tokens;
            tokens += encoded.tokens;
            done++;
            onProgress?.(done, distinct.length, tokens);
            if (counters.encodes % commitEvery === 0) await keep();
          }
        } catch (error) {
          failed = true;
          throw error;
        }
      });
      const ends = await Promise.allSettled(work);
      counters.seconds += (performance.now() - started) / 1000;
      await keep();
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    }
    if (done < distinct.length) {
      throw new WorkbenchError('stopped', `stopped after ${done} of ${distinct.length} texts`, {
        hint: 'The vectors so far are kept; the same command goes on from there.',
      });
    }
    return { matrix, rows, dim } satisfies EncodedTexts;
  }

  return {
    id,
    name,
    dim,
    counters,
    encode,
    async dispose() {
      await (await lanes?.catch(() => undefined))?.dispose();
      await cache.close();
    },
  };
}

/**
 * The token budget as far as a text can feel it: plain ASCII never has more tokens than characters, so a short text has
 * one vector whatever the budget, and texts of several uses share it.
 */
function budgetKey(text: string, maxTokens: number): string {
  return text.length < maxTokens && /^[\x20-\x7e]*$/.test(text) ? 'whole' : String(maxTokens);
}

function fill(row: Float32Array, vector: readonly number[], normalize: boolean, path: string): void {
  // A text of nothing but characters the tokenizer drops has no tokens; its vector is zero.
  if (vector.length === 0) return;
  if (vector.length !== row.length || !vector.every(Number.isFinite)) {
    throw new WorkbenchError('data', `expected ${row.length} finite numbers, got another vector, at ${path}`, {
      hint: 'The model file is damaged or does not suit embeddings: choose another.',
    });
  }
  const exact = Float64Array.from(vector);
  if (normalize) normalizeL2(exact);
  row.set(exact);
}
