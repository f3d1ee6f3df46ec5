/** A loaded model with several contexts that encode side by side in this process. */
import type { LlamaEmbeddingContext, LlamaModel, Token } from 'node-llama-cpp';
import { type LlamaDevice, openLlama } from '../llm/llama-library.js';
import { WorkbenchError } from '../run/errors.js';
import type { EmbeddingModel } from './embedding-model.js';
import { blockTokens, type EncoderContext, prefixContext } from './prefix-context.js';

export interface LlamaContexts extends LlamaVocabulary {
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
export async function loadLlamaContexts(options: LlamaContextsOptions): Promise<LlamaContexts> {
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
export const reservedPlaces = 3;

export interface LlamaVocabulary {
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
export async function loadVocabulary(
  modelPath: string,
  contextLength: number,
): Promise<LlamaVocabulary & { dispose(): Promise<void> }> {
  const llama = await openLlama('off');
  const model = await llama.loadModel({ modelPath, vocabOnly: true }).catch(refusal(modelPath));
  return { ...vocabularyOf(model, contextLength), dispose: () => model.dispose() };
}

/** Throws what the library says of a model as the error that a user sees. */
function refusal(path: string): (error: unknown) => never {
  return (cause) => {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new WorkbenchError('data', `expected a model that llama.cpp can load, got: ${message}, at ${path}`, {
      hint: 'Check that the installed node-llama-cpp knows this architecture and that there is memory for it.',
      cause,
    });
  };
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

interface Pooled<Value> {
  size: number;
  users: number;
  opening: Promise<{ value: Value; close(): Promise<void> }>;
}

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
