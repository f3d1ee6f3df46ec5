/** The facts of a GGUF file that decide whether and how it gives text vectors. */
import { readTextModel } from '../llm/gguf/text-model.js';
import { WorkbenchError } from '../run/errors.js';

/** How one vector is made of the vectors of a text's tokens; `last` where the file names nothing. */
export type Pooling = 'mean' | 'cls' | 'last';

/** What can be asked of a file: its own way, or another. `cls` alone needs a model that was trained for it. */
export const poolingChoices = ['model', 'last', 'mean'] as const;

/** How a model makes vectors. */
export type EmbeddingModel = ReturnType<typeof readEmbeddingModel>;

/** @source llama.h, `enum llama_pooling_type` */
const poolings: Readonly<Record<number, Pooling>> = { 0: 'last', 1: 'mean', 2: 'cls', 3: 'last' };
const poolingTypes = { last: 3, mean: 1 };

/**
 * Reads and checks a model file in milliseconds, before anything heavy starts.
 * @param asked `model` is the file's own pooling
 * @throws WorkbenchError `data` when the file is damaged or cannot give one vector a text
 */
export function readEmbeddingModel(path: string, asked: (typeof poolingChoices)[number] = 'model') {
  const { architecture, metadata, size, refuse } = readTextModel(path, 'gives text vectors');
  const ownType = metadata.get(`${architecture}.pooling_type`) ?? 0;
  if (ownType === 4) throw refuse('a reranker, which gives scores');
  const own = poolings[Number(ownType)];
  if (own === undefined) throw refuse(`unknown pooling type ${ownType}`);
  const pooling: Pooling = asked === 'model' ? own : asked;
  const dim = metadata.has(`${architecture}.embedding_length_out`) ? 'embedding_length_out' : 'embedding_length';
  return {
    architecture,
    /** Length of a vector. */
    dim: size(dim, 1),
    /** Longest input in tokens, special ones included. */
    contextLength: size('context_length', 8),
    pooling,
    /** llama.cpp's number of `pooling`, where the file itself says another; else undefined, and the file is taken as it is. */
    poolingType: pooling === own || pooling === 'cls' ? undefined : poolingTypes[pooling],
    /**
     * Whether each token sees only those before it, and the vector is that of the last. A file that takes means reads in
     * both directions, unless it says otherwise in a way that nobody has tried.
     */
    causal: own === 'last' && pooling === 'last' && metadata.get(`${architecture}.attention.causal`) !== false,
  };
}

/** What can be asked of a file; nothing of one that gives no text vectors. */
export function poolingsOf(path: string): Pooling[] {
  try {
    return [...new Set([readEmbeddingModel(path).pooling, ...poolingChoices.filter((choice) => choice !== 'model')])];
  } catch (error) {
    if (error instanceof WorkbenchError) return [];
    throw error;
  }
}
