/** Frozen text vectors of a local GGUF model. */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { type LlamaDevice, llamaVersion } from '../llm/llama-library.js';
import { hashedFile } from '../run/files.js';
import { cachedEncoder, type TextEvaluator } from './cached-encoder.js';
import { readEmbeddingModel } from './embedding-model.js';
import { openEncoderCache } from './encoder-cache.js';
import {
  type LlamaContexts,
  type LlamaVocabulary,
  loadLlamaContexts,
  loadVocabulary,
  reservedPlaces,
} from './llama-contexts.js';
import { blockTokens, encodeBatch } from './prefix-context.js';
import type { EncoderSettings } from './settings.js';
import type { StateEncoder } from './state-encoder.js';

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
