/** The facts of a GGUF file that decide whether and how it gives text vectors. */
import { readTextModel } from '../llm/gguf/text-model.js';

/** How one vector is made of the vectors of a text's tokens; `last` where the file names nothing. */
export type Pooling = 'mean' | 'cls' | 'last';

/** How a model makes vectors. */
export interface EmbeddingModel {
  architecture: string;
  /** Length of a vector. */
  dim: number;
  /** Longest input in tokens, special ones included. */
  contextLength: number;
  pooling: Pooling;
  /** Whether a token sees only those before it, so that what a text begins with does not depend on how it goes on. */
  causal: boolean;
}

const poolings: Readonly<Record<number, Pooling>> = { 0: 'last', 1: 'mean', 2: 'cls', 3: 'last' };

/**
 * Reads and checks a model file in milliseconds, before anything heavy starts.
 * @throws WorkbenchError `data` when the file is damaged or cannot give one vector a text
 */
export function readEmbeddingModel(path: string): EmbeddingModel {
  const { architecture, metadata, size, refuse } = readTextModel(path, 'gives text vectors');
  const poolingType = metadata.get(`${architecture}.pooling_type`) ?? 0;
  if (poolingType === 4) throw refuse('a reranker, which gives scores');
  const pooling = poolings[Number(poolingType)];
  if (pooling === undefined) throw refuse(`unknown pooling type ${poolingType}`);
  const dim = metadata.has(`${architecture}.embedding_length_out`) ? 'embedding_length_out' : 'embedding_length';
  const causal = pooling === 'last' && metadata.get(`${architecture}.attention.causal`) !== false;
  return { architecture, dim: size(dim, 1), contextLength: size('context_length', 8), pooling, causal };
}
