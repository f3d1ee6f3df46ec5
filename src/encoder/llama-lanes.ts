/** A loaded model with several contexts that encode side by side in this process. */
import type { LlamaEmbeddingContext, LlamaModel, Token } from 'node-llama-cpp';
import { openLlama, type LlamaDevice } from '../llm/llama-library.js';
import { WorkbenchError } from '../run/errors.js';

/** Encodes one text at a time. */
export interface EncoderLane {
  /**
   * The raw vector of a text, and how many tokens were evaluated (special ones included).
   * @param maxTokens of the text, without special ones; the oldest are dropped
   */
  encode(text: string, maxTokens: number): Promise<{ vector: readonly number[]; tokens: number }>;
}

/** A loaded model; dispose it after use. */
export interface LlamaLanes {
  /** Lanes for inputs of at most `maxTokens`; opened once a size. */
  open(maxTokens: number): Promise<EncoderLane[]>;
  dispose(): Promise<void>;
}

/** Contexts come in steps of this many tokens: llama.cpp rounds up to it anyway. */
const contextStep = 256;

/**
 * Loads the model once; each lane has a context of its own and one thread, which llama.cpp runs outside the event loop.
 * One text a batch: the addon returns the vector of the first sequence of a batch only, and a text's vector must not
 * depend on its neighbours. Flash attention is off: for texts this short it takes twice the time on a processor.
 * @param count lanes, 1 or more
 * @throws WorkbenchError `native` when the library is missing, `data` when it refuses the model
 */
export async function loadLlamaLanes(
  modelPath: string,
  contextLength: number,
  count: number,
  device: LlamaDevice,
): Promise<LlamaLanes> {
  const llama = await openLlama(device);
  let model: LlamaModel;
  try {
    model = await llama.loadModel({ modelPath, defaultContextFlashAttention: false });
  } catch (error) {
    throw refused(error, modelPath);
  }
  const opened = new Map<number, Promise<LlamaEmbeddingContext[]>>();

  function contexts(size: number): Promise<LlamaEmbeddingContext[]> {
    let known = opened.get(size);
    if (known === undefined) {
      known = Promise.all(
        Array.from({ length: count }, () =>
          model.createEmbeddingContext({ contextSize: size, batchSize: size, threads: 1 }),
        ),
      ).catch((error) => {
        opened.delete(size);
        throw refused(error, modelPath);
      });
      opened.set(size, known);
    }
    return known;
  }

  return {
    async open(maxTokens) {
      // A context takes one token less than its size, and up to two special ones beside the text's own.
      const size = Math.min(contextLength, Math.ceil((maxTokens + 3) / contextStep) * contextStep);
      return (await contexts(size)).map((context) => lane(model, context, size));
    },
    async dispose() {
      await model.dispose();
    },
  };
}

function lane(model: LlamaModel, context: LlamaEmbeddingContext, size: number): EncoderLane {
  const special = context.calculateInputLength([]);
  return {
    async encode(text, maxTokens) {
      const tokens: Token[] = model.tokenize(text).slice(-Math.min(maxTokens, size - 1 - special));
      const { vector } = await context.getEmbeddingFor(tokens);
      return { vector, tokens: tokens.length + special };
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
