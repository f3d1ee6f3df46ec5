/** The facts of a GGUF file that decide whether and how it gives text vectors. */
import { WorkbenchError } from '../run/errors.js';
import { readGgufHeader } from '../llm/gguf/read-header.js';

/** How one vector is made of the vectors of a text's tokens; `last` where the file names nothing. */
export type Pooling = 'mean' | 'cls' | 'last';

export interface EmbeddingModel {
  architecture: string;
  /** Length of a vector. */
  dim: number;
  /** Longest input in tokens, special ones included. */
  contextLength: number;
  pooling: Pooling;
}

const poolings: Readonly<Record<number, Pooling>> = { 0: 'last', 1: 'mean', 2: 'cls', 3: 'last' };

/**
 * Reads and checks a model file in milliseconds, before anything heavy starts.
 * @throws WorkbenchError `data` when the file is damaged or cannot give one vector a text
 */
export function readEmbeddingModel(path: string): EmbeddingModel {
  const { metadata, arrayLengths, tensors } = readGgufHeader(path);
  const refuse = (got: string, hint = 'Choose a GGUF text model, such as a sentence encoder or a Llama.') =>
    new WorkbenchError('data', `expected a model that gives text vectors, got ${got}, at ${path}`, { hint });

  const architecture = metadata.get('general.architecture');
  if (typeof architecture !== 'string' || architecture === '') throw refuse('a file without an architecture');
  const kind = metadata.get('general.type');
  if (kind === 'adapter' || kind === 'mmproj' || architecture === 'clip')
    throw refuse(`a ${kind ?? architecture} file`);
  if (architecture === 't5') throw refuse('an encoder-decoder model');
  if (Number(metadata.get('split.count') ?? 1) > 1) {
    throw refuse('one part of a split model', 'Merge the parts first (llama.cpp: `llama-gguf-split --merge`).');
  }
  if (!arrayLengths.has('tokenizer.ggml.tokens')) throw refuse('a file without a vocabulary');
  if (tensors.length === 0) throw refuse('a vocabulary without weights');

  const size = (name: string, least: number) => {
    const value = metadata.get(`${architecture}.${name}`);
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > 2 ** 24) {
      throw refuse(`${architecture}.${name} = ${value}`);
    }
    return value;
  };
  const poolingType = metadata.get(`${architecture}.pooling_type`) ?? 0;
  if (poolingType === 4) throw refuse('a reranker, which gives scores');
  const pooling = poolings[Number(poolingType)];
  if (pooling === undefined) throw refuse(`unknown pooling type ${poolingType}`);
  const dim = metadata.has(`${architecture}.embedding_length_out`) ? 'embedding_length_out' : 'embedding_length';
  return { architecture, dim: size(dim, 1), contextLength: size('context_length', 8), pooling };
}
