/** A loaded model with several contexts that encode side by side in this process. */
import type { LlamaEmbeddingContext, LlamaModel, Token } from 'node-llama-cpp';
import { openLlama, type LlamaDevice } from '../llm/llama-library.js';
import { WorkbenchError } from '../run/errors.js';
import { blockTokens, prefixLane } from './prefix-lane.js';

/** Encodes one text at a time. */
export interface EncoderLane {
  /**
   * The raw vector of a text's tokens, how many tokens were evaluated (special ones included), and how many were there
   * already, from the text before.
   */
  encode(tokens: readonly Token[]): Promise<{ vector: ArrayLike<number>; evaluated: number; reused: number }>;
}

/** Lanes of one size, and how texts become their input. */
export interface OpenedLanes {
  lanes: readonly EncoderLane[];
  /** Tokens without special ones, the newest that count. */
  tokenize(text: string): Token[];
}

/** A loaded model; dispose it after use. */
export interface LlamaLanes {
  /** Lanes for inputs of at most `maxTokens`, without special ones; opened once a size. */
  open(maxTokens: number): Promise<OpenedLanes>;
  dispose(): Promise<void>;
}

/** Which model, and how its lanes compute. */
export interface LlamaLanesOptions {
  modelPath: string;
  /** Longest input in tokens. */
  contextLength: number;
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
  const { modelPath, contextLength, count, device, reuse } = options;
  const llama = await openLlama(device);
  let model: LlamaModel;
  try {
    model = await llama.loadModel({
      modelPath,
      defaultContextFlashAttention: false,
      // A sliding window would forget the beginning.
      ...(reuse && { defaultContextSwaFullCache: true }),
    });
  } catch (error) {
    throw refused(error, modelPath);
  }
  const opened = new Map<number, Promise<OpenedLanes>>();

  async function open(size: number): Promise<OpenedLanes> {
    const batchSize = reuse ? blockTokens : size;
    const create = () => model.createEmbeddingContext({ contextSize: size, batchSize, threads: 1 });
    const contexts = await Promise.all(Array.from({ length: count }, create)).catch((error: unknown) => {
      throw refused(error, modelPath);
    });
    return { lanes: contexts.map(reuse ? prefixLane : wholeLane), ...tokenizer(model, contexts[0]!, size) };
  }

  return {
    async open(maxTokens) {
      // A context takes one token less than its size, and up to two special ones beside the text's own.
      const size = Math.min(contextLength, Math.ceil((maxTokens + 3) / contextStep) * contextStep);
      let known = opened.get(size);
      if (known === undefined) {
        known = open(size);
        known.catch(() => opened.delete(size));
        opened.set(size, known);
      }
      const { lanes, tokenize } = await known;
      return { lanes, tokenize: (text) => tokenize(text).slice(-maxTokens) };
    },
    async dispose() {
      await model.dispose();
    },
  };
}

/** Tokens of a text as far as they fit into a context beside the special ones. */
function tokenizer(model: LlamaModel, context: LlamaEmbeddingContext, size: number) {
  const most = size - 1 - context.calculateInputLength([]);
  return { tokenize: (text: string) => model.tokenize(text).slice(-most) };
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

function refused(error: unknown, path: string): WorkbenchError {
  const message = error instanceof Error ? error.message : String(error);
  return new WorkbenchError('data', `expected a model that llama.cpp can load, got: ${message}, at ${path}`, {
    hint: 'Check that the installed node-llama-cpp knows this architecture and that there is memory for it.',
    cause: error,
  });
}
