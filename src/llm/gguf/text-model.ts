/** Requirements on any text model file. */
import { WorkbenchError } from '../../run/errors.js';
import { type GgufHeader, readGgufHeader } from './read-header.js';

interface TextModelFile {
  architecture: string;
  metadata: GgufHeader['metadata'];
  /** A size of the architecture, such as `context_length`; an error when missing, below `least` or absurd. */
  size(name: string, least: number): number;
  /** Error for a file of another kind. */
  refuse(got: string, hint?: string): WorkbenchError;
}

/**
 * Reads and checks a model file in milliseconds, before anything heavy starts.
 * @param purpose what the model is for, as in "expected a model that …"
 * @throws WorkbenchError `data` when the file is damaged, split, no text model or has no weights
 */
export async function readTextModel(path: string, purpose: string): Promise<TextModelFile> {
  const { metadata, arrayLengths, tensors } = await readGgufHeader(path);
  const refuse = (got: string, hint = 'Choose a GGUF text model, such as a sentence encoder or a Llama.') =>
    new WorkbenchError('data', `expected a model that ${purpose}, got ${got}, at ${path}`, { hint });

  const architecture = metadata.get('general.architecture');
  if (typeof architecture !== 'string' || architecture === '') throw refuse('a file without an architecture');
  const kind = metadata.get('general.type');
  if (kind === 'adapter' || kind === 'mmproj' || architecture === 'clip') {
    throw refuse(`a ${kind ?? architecture} file`);
  }
  if (architecture === 't5') throw refuse('an encoder-decoder model');
  if (Number(metadata.get('split.count') ?? 1) > 1) {
    throw refuse('one part of a split model', 'Merge the parts first (llama.cpp: `llama-gguf-split --merge`).');
  }
  if (!arrayLengths.has('tokenizer.ggml.tokens')) throw refuse('a file without a vocabulary');
  if (tensors.length === 0) throw refuse('a vocabulary without weights');

  function size(name: string, least: number): number {
    const value = metadata.get(`${architecture}.${name}`);
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > 2 ** 24) {
      throw refuse(`${architecture}.${name} = ${value}`);
    }
    return value;
  }
  return { architecture, metadata, size, refuse };
}

/**
 * Reads and checks a chat model file.
 * @returns tokens of prompt and reply that it was trained with
 * @throws WorkbenchError `data` when the file is damaged or cannot write text, such as a sentence encoder
 */
export async function readChatModelFile(path: string): Promise<{ trainedContext: number }> {
  const { architecture, metadata, size, refuse } = await readTextModel(path, 'writes text');
  const causal = metadata.get(`${architecture}.attention.causal`);
  const pooling = Number(metadata.get(`${architecture}.pooling_type`) ?? 0);
  if (architecture.includes('bert') || architecture === 't5encoder' || causal === false || pooling > 0) {
    throw refuse(
      `a sentence encoder (${architecture})`,
      'Give it as the encoder, and choose an instruction-tuned model such as a Llama or Qwen here.',
    );
  }
  return { trainedContext: size('context_length', 64) };
}
