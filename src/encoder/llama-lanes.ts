/** A loaded model with several contexts that encode side by side in this process. */
import type { LlamaEmbeddingContext, LlamaModel, Token } from 'node-llama-cpp';
import { openLlama, type LlamaDevice } from '../llm/llama-library.js';
import type { EmbeddingModel } from './embedding-model.js';
import { growing, type Opened } from './growing.js';
import { type LlamaVocabulary, refused, reservedPlaces, vocabularyOf } from './llama-vocabulary.js';
import { blockTokens, prefixLane } from './prefix-lane.js';

/** Encodes one text at a time. */
export interface EncoderLane {
  /**
   * The raw vector of a text's tokens, how many tokens were evaluated (special ones included), and how many were there
   * already, from the text before.
   */
  encode(tokens: readonly Token[]): Promise<{ vector: ArrayLike<number>; evaluated: number; reused: number }>;
}

/** A loaded model; dispose it after use. */
export interface LlamaLanes extends LlamaVocabulary {
  /**
   * Works on all lanes, each with room for inputs of `tokens` tokens, special ones not counted, at most `most`. Contexts grow
   * with what they are asked for; vectors do not depend on their size (measured, bit for bit).
   */
  use<Result>(tokens: number, work: (lanes: readonly EncoderLane[]) => Promise<Result>): Promise<Result>;
  dispose(): Promise<void>;
}

/** Which model, and how its lanes compute. */
export interface LlamaLanesOptions {
  modelPath: string;
  model: Pick<EmbeddingModel, 'architecture' | 'contextLength' | 'poolingType'>;
  /** Lanes, 1 or more. */
  count: number;
  device: LlamaDevice;
  /** Whether lanes keep the beginning of a text for the next: of models alone whose tokens see only those before them. */
  reuse: boolean;
}

/** Contexts come in steps of this many tokens: llama.cpp rounds up to it anyway. */
const contextStep = 256;

/**
 * Loads the model once; each lane has a context of its own and one thread, which llama.cpp runs outside the event loop.
 * One text a batch: the addon returns the vector of the first sequence of a batch only, and a text's vector must not
 * depend on its neighbours. Flash attention is off: for texts this short it takes twice the time on a processor.
 * @throws WorkbenchError `native` when the library is missing or differs inside, `data` when it refuses the model
 */
export async function loadLlamaLanes(options: LlamaLanesOptions): Promise<LlamaLanes> {
  const { modelPath, count, device, reuse } = options;
  const { architecture, contextLength, poolingType } = options.model;
  const llama = await openLlama(device);
  let model: LlamaModel;
  try {
    model = await llama.loadModel({
      modelPath,
      defaultContextFlashAttention: false,
      // A sliding window would forget the beginning.
      ...(reuse && { defaultContextSwaFullCache: true }),
      ...(poolingType !== undefined && { metadataOverrides: { [architecture]: { pooling_type: poolingType } } }),
    });
  } catch (error) {
    throw refused(error, modelPath);
  }

  async function open(size: number): Promise<Opened<EncoderLane[]>> {
    const batchSize = reuse ? blockTokens : size;
    const create = () => model.createEmbeddingContext({ contextSize: size, batchSize, threads: 1 });
    const contexts = await Promise.all(Array.from({ length: count }, create)).catch((error: unknown) => {
      throw refused(error, modelPath);
    });
    return {
      value: contexts.map(reuse ? prefixLane : wholeLane),
      async close() {
        for (const context of contexts) await context.dispose();
      },
    };
  }

  const opened = growing(open);
  return {
    ...vocabularyOf(model, contextLength),
    use(tokens, work) {
      const size = Math.min(contextLength, Math.ceil((tokens + reservedPlaces) / contextStep) * contextStep);
      return opened.use(size, work);
    },
    dispose: () => model.dispose(),
  };
}

/** Evaluates every text from empty, in one batch. */
function wholeLane(context: LlamaEmbeddingContext): EncoderLane {
  const special = context.calculateInputLength([]);
  return {
    async encode(tokens) {
      // The library adds the special tokens to what it is given.
      const { vector } = await context.getEmbeddingFor([...tokens]);
      return { vector, evaluated: tokens.length + special, reused: 0 };
    },
  };
}
