/** Facts of a GGUF file that matter for text vectors. */
import { readTextModel } from '../llm/gguf/model-facts.js';
import { WorkbenchError } from '../run/errors.js';

/** Pooling of token vectors into one vector; `last` when the file names none. */
export type Pooling = 'mean' | 'cls' | 'last';

/** Poolings to choose from; `model` is the file's own. `cls` is not offered: it needs a model trained for it. */
export const poolingChoices = ['model', 'last', 'mean'] as const;

/** Facts about a model that makes vectors. */
export type EmbeddingModel = Awaited<ReturnType<typeof readEmbeddingModel>>;

/** @source llama.h, `enum llama_pooling_type` */
const poolings: Readonly<Record<number, Pooling>> = { 0: 'last', 1: 'mean', 2: 'cls', 3: 'last' };
const poolingTypes = { last: 3, mean: 1 };

/**
 * Reads and checks a model file in milliseconds, before anything heavy starts.
 * @param asked `model` is the file's own pooling
 * @throws WorkbenchError `data` when the file is damaged or cannot give one vector a text
 */
export async function readEmbeddingModel(path: string, asked: (typeof poolingChoices)[number] = 'model') {
  const { architecture, metadata, size, refuse } = await readTextModel(path, 'gives text vectors');
  const ownType = metadata.get(`${architecture}.pooling_type`) ?? 0;
  if (ownType === 4) throw refuse('a reranker, which gives scores');
  const own = poolings[Number(ownType)];
  if (own === undefined) throw refuse(`unknown pooling type ${ownType}`);
  const pooling: Pooling = asked === 'model' ? own : asked;
  const dim = metadata.has(`${architecture}.embedding_length_out`) ? 'embedding_length_out' : 'embedding_length';
  return {
    architecture,
    dim: size(dim, 1),
    contextLength: size('context_length', 8),
    pooling,
    /** llama.cpp's number of `pooling` when it differs from the file's; else undefined. */
    poolingType: pooling === own || pooling === 'cls' ? undefined : poolingTypes[pooling],
    /** Causal attention with the last token’s vector; files with mean pooling read in both directions. */
    causal: own === 'last' && pooling === 'last' && metadata.get(`${architecture}.attention.causal`) !== false,
  };
}

/** Poolings of a file; none when it gives no text vectors. */
export async function poolingsOf(path: string): Promise<Pooling[]> {
  try {
    return [
      ...new Set([(await readEmbeddingModel(path)).pooling, ...poolingChoices.filter((choice) => choice !== 'model')]),
    ];
  } catch (error) {
    if (error instanceof WorkbenchError) return [];
    throw error;
  }
}
