/** Frozen text vectors of a local GGUF model. */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { llamaVersion, openLlama, refusal } from '../llm/llama-library.js';
import type { LlamaDevice } from '../llm/llama-options.js';
import { hashedFile } from '../run/files.js';
import { cachedEncoder, type TextEvaluator } from './cached-encoder.js';
import { readEmbeddingModel, type EmbeddingModel } from './embedding-model.js';
import { openEncoderCache } from './encoder-cache.js';
import { blockTokens, encodeBatch, type EncoderContext, prefixContext } from './prefix-context.js';
import type { EncoderSettings } from './settings.js';
import type { StateEncoder } from './state-encoder.js';
import type { LlamaEmbeddingContext, LlamaModel, Token } from 'node-llama-cpp';

/** Which model, how it computes, and where its vectors are kept. */
export interface LlamaEncoderOptions {
  modelPath: string;
  settings: Pick<EncoderSettings, 'pooling' | 'normalize' | 'workers' | 'prefixReuse'> & { gpu: LlamaDevice };
  cacheFolder: string;
}

/**
 * Opens a model file: checked and hashed at once, loaded at the first text that no cache holds. A vector depends on the
 * text and on `id` alone.
 * @throws WorkbenchError `data` for a file that cannot serve or changes while it is used, `native` without node-llama-
 *   cpp or lmdb
 */
export async function openLlamaEncoder(options: LlamaEncoderOptions): Promise<StateEncoder> {
  const { modelPath, settings } = options;
  const model = await readEmbeddingModel(modelPath, settings.pooling);
  const { dim, contextLength, pooling, causal } = model;
  const cache = await openEncoderCache(options.cacheFolder);
  const file = await hashedFile(modelPath, (path) => cache.fileHash(path)).catch(async (error: unknown) => {
    await cache.close();
    throw error;
  });
  const scale = settings.normalize ? 'l2' : 'raw';
  const reuse = settings.prefixReuse === 'auto' && causal;
  const evaluated = reuse ? `blocks-${blockTokens}` : 'single';
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

  const evaluator: TextEvaluator = {
    id: `gguf:${file.hash}:${pooling}:${scale}:${evaluated}:node-llama-cpp@${llamaVersion()}`,
    name: basename(modelPath),
    mode: settings.gpu === 'off' ? 'cpu' : 'gpu',
    place: modelPath,
    ...{ dim, contextLength, reserved: reservedPlaces, prefixBlock: reuse ? blockTokens : 0 },
    mostTokens: async () => (await openVocabulary()).most,
    countTokens: async (text) => (await openVocabulary()).tokenize(text).length,
    async evaluate(texts, { budget, lanes = count, stopped, onVector, onSeconds }) {
      const loaded = await openContexts();
      const newest = Math.min(budget, loaded.most);
      const tokens = texts.map((text) => loaded.tokenize(text).slice(-newest));
      const longest = tokens.reduce((most, { length }) => Math.max(most, length), 0);
      await loaded.use(longest, async (all) => {
        // Loading the model is not the rate of encoding.
        const started = performance.now();
        const free = all.slice(0, Math.max(1, lanes));
        await encodeBatch(free, { tokens, reuse, onVector, stopped }).finally(() => {
          onSeconds((performance.now() - started) / 1000);
        });
      });
    },
    check: () => file.check(),
    async dispose() {
      await (await contexts?.catch(() => undefined))?.dispose();
      await (await vocabulary?.catch(() => undefined))?.dispose();
    },
  };
  return cachedEncoder(evaluator, cache, settings.normalize);
}

interface LlamaContexts extends LlamaVocabulary {
  /**
   * Works on all contexts, each with room for `tokens` tokens, special ones not counted. They grow with demand; vectors
   * do not depend on their size (measured, bit for bit).
   */
  use<Result>(tokens: number, work: (contexts: readonly EncoderContext[]) => Promise<Result>): Promise<Result>;
  dispose(): Promise<void>;
}

interface LlamaContextsOptions {
  modelPath: string;
  model: Pick<EmbeddingModel, 'architecture' | 'contextLength' | 'poolingType'>;
  count: number;
  device: LlamaDevice;
  /** Reuse the evaluated beginning of a text for the next; causal models only. */
  reuse: boolean;
}

/** Contexts come in steps of this many tokens: llama.cpp rounds up to it anyway. */
const contextStep = 256;

/**
 * Loads the model once; each context has one thread. One text a batch: the addon returns the first sequence’s vector
 * only. Flash attention is off: below 64 tokens it takes twice the time on a processor.
 * @throws WorkbenchError `native` when the library is missing or differs inside, `data` when it refuses the model
 */
async function loadLlamaContexts(options: LlamaContextsOptions): Promise<LlamaContexts> {
  const { modelPath, count, device, reuse } = options;
  const { architecture, contextLength, poolingType } = options.model;
  const refuse = refusal(modelPath);
  const llama = await openLlama(device);
  const loading = llama.loadModel({
    modelPath,
    defaultContextFlashAttention: false,
    // A sliding window would forget the beginning.
    ...(reuse && { defaultContextSwaFullCache: true }),
    ...(poolingType !== undefined && { metadataOverrides: { [architecture]: { pooling_type: poolingType } } }),
  });
  const model = await loading.catch(refuse);
  const pool = growingPool(async (size) => {
    const batchSize = reuse ? blockTokens : size;
    const create = () => model.createEmbeddingContext({ contextSize: size, batchSize, threads: 1 });
    const contexts = await Promise.all(Array.from({ length: count }, create)).catch(refuse);
    return {
      value: contexts.map(reuse ? prefixContext : wholeContext),
      async close() {
        for (const context of contexts) await context.dispose();
      },
    };
  });
  return {
    ...vocabularyOf(model, contextLength),
    use(tokens, work) {
      const size = Math.min(contextLength, Math.ceil((tokens + reservedPlaces) / contextStep) * contextStep);
      return pool.use(size, work);
    },
    dispose: () => model.dispose(),
  };
}

/** Evaluates every text from empty, in one batch. */
function wholeContext(context: LlamaEmbeddingContext): EncoderContext {
  const special = context.calculateInputLength([]);
  return {
    async encode(tokens) {
      // The library adds the special tokens to what it is given.
      const { vector } = await context.getEmbeddingFor([...tokens]);
      return { vector, evaluated: tokens.length + special, reused: 0 };
    },
  };
}

/** Places of a context that the tokens of a text never take: one stays free, and two at most are for special tokens. */
const reservedPlaces = 3;

interface LlamaVocabulary {
  tokenize(text: string): Token[];
  special: number;
  /** Maximum tokens of a text, without special ones. */
  most: number;
}

/** @param contextLength of the model, in tokens */
function vocabularyOf(model: LlamaModel, contextLength: number): LlamaVocabulary {
  const special = specialTokens(model);
  // The library leaves one place of a context free.
  return { tokenize: (text) => model.tokenize(text), special, most: contextLength - 1 - special };
}

/**
 * The vocabulary alone, without the weights; dispose it after use.
 * @throws WorkbenchError `native` when the library is missing, `data` when it refuses the model
 */
async function loadVocabulary(
  modelPath: string,
  contextLength: number,
): Promise<LlamaVocabulary & { dispose(): Promise<void> }> {
  const llama = await openLlama('off');
  const model = await llama.loadModel({ modelPath, vocabOnly: true }).catch(refusal(modelPath));
  return { ...vocabularyOf(model, contextLength), dispose: () => model.dispose() };
}

/** Number of special tokens that the library adds to every input: two for word pieces, otherwise as stated in the file. */
function specialTokens({ vocabularyType, tokens }: LlamaModel): number {
  const kind: string = vocabularyType;
  if (kind === 'rwkv') return 0;
  const begin = kind === 'wpm' || (kind !== 'ugm' && tokens.shouldPrependBosToken) ? tokens.bos : null;
  const ends: Readonly<Record<string, Token | null>> = { wpm: tokens.sep, ugm: tokens.eos };
  const end = kind in ends ? ends[kind] : tokens.shouldAppendEosToken ? tokens.eos : null;
  return Number(begin !== null) + Number(end !== null);
}

type Pooled<Value> = { size: number; users: number; opening: Promise<{ value: Value; close(): Promise<void> }> };

/**
 * Lends a context of at least the requested size; a larger one replaces the open one, which closes after its last use.
 * @param open opens one of exactly `size`; its error rejects the pending calls, and the next call opens again
 */
export function growingPool<Value>(open: (size: number) => Pooled<Value>['opening']) {
  let current: Pooled<Value> | undefined;

  const close = (pooled: Pooled<Value>) =>
    pooled.opening.then(
      (opened) => opened.close(),
      () => {},
    );

  function atLeast(size: number): Pooled<Value> {
    if (current !== undefined && current.size >= size) return current;
    // Never both in memory while the smaller one is idle.
    const opening = current?.users === 0 ? close(current).then(() => open(size)) : open(size);
    const pooled = { size, users: 0, opening };
    opening.catch(() => {
      if (current === pooled) current = undefined;
    });
    return (current = pooled);
  }

  return {
    async use<Result>(size: number, work: (value: Value) => Promise<Result>): Promise<Result> {
      const pooled = atLeast(size);
      pooled.users++;
      try {
        return await work((await pooled.opening).value);
      } finally {
        if (--pooled.users === 0 && pooled !== current) await close(pooled);
      }
    },
  };
}
