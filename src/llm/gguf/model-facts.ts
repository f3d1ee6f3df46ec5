/** Requirements on any text model file. */
import { statSync } from 'node:fs';
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
  const { metadata, arrayLengths, tensors } = readGgufHeader(path);
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
    const hint = 'Give it as the encoder, and choose an instruction-tuned model such as a Llama or Qwen here.';
    throw refuse(`a sentence encoder (${architecture})`, hint);
  }
  return { trainedContext: size('context_length', 64) };
}

const poolings: Readonly<Record<number, string>> = { 1: 'mean', 2: 'cls', 3: 'last', 4: 'rank' };

const families: readonly (readonly [mark: string, family: string])[] = [
  ['<|im_start|>', 'ChatML'],
  ['<|start_header_id|>', 'Llama 3'],
  ['<start_of_turn>', 'Gemma'],
  ['[INST]', 'Llama 2 or Mistral'],
  ['<|assistant|>', 'Zephyr or Phi'],
];

/** Facts of a file; undefined for what it does not state. @throws WorkbenchError `data` for a file that is damaged or none */
export async function describeModel(path: string) {
  const { metadata, arrayLengths, tensors } = readGgufHeader(path);
  const text = (key: string) => {
    const value = metadata.get(key);
    return typeof value === 'string' ? value : undefined;
  };
  const architecture = text('general.architecture') ?? 'unknown';
  const size = (key: string) => {
    const value = metadata.get(`${architecture}.${key}`);
    return typeof value === 'number' ? value : undefined;
  };
  return {
    architecture,
    bytes: statSync(path).size,
    parameters: tensors.reduce((sum, { shape }) => sum + valuesOf(shape), 0),
    quantisation: mainType(tensors),
    chatTemplate: templateFamily(text('tokenizer.chat_template')),
    name: text('general.name'),
    licence: text('general.license'),
    contextLength: size('context_length'),
    layers: size('block_count'),
    embeddingLength: size('embedding_length_out') ?? size('embedding_length'),
    heads: size('attention.head_count'),
    /** Heads of keys and values, where several heads share one. */
    keyValueHeads: size('attention.head_count_kv'),
    /** Tokens of the vocabulary, and the kind of tokenizer, such as `bpe` or `bert`. */
    vocabulary: arrayLengths.get('tokenizer.ggml.tokens'),
    tokenizer: text('tokenizer.ggml.model'),
    /** Pooling of token vectors into a text's vector. */
    pooling: poolings[size('pooling_type') ?? 0],
  };
}

function templateFamily(template: string | undefined): string {
  if (template === undefined) return 'none';
  return families.find(([mark]) => template.includes(mark))?.[1] ?? 'its own';
}

const valuesOf = (shape: readonly number[]) => shape.reduce((product, length) => product * length, 1);

function mainType(tensors: GgufHeader['tensors']): string {
  const values = new Map<string, number>();
  for (const { shape, type } of tensors) values.set(type, (values.get(type) ?? 0) + valuesOf(shape));
  return [...values].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'none';
}
