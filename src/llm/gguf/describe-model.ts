/** Facts about a model file, from its header alone. */
import { statSync } from 'node:fs';
import { type GgufHeader, readGgufHeader } from './read-header.js';

const poolings: Readonly<Record<number, string>> = { 1: 'mean', 2: 'cls', 3: 'last', 4: 'rank' };

/** Marks of one family of templates each. */
const families: readonly (readonly [mark: string, family: string])[] = [
  ['<|im_start|>', 'ChatML'],
  ['<|start_header_id|>', 'Llama 3'],
  ['<start_of_turn>', 'Gemma'],
  ['[INST]', 'Llama 2 or Mistral'],
  ['<|assistant|>', 'Zephyr or Phi'],
];

/**
 * Facts of a file; undefined for what it does not state.
 * @throws WorkbenchError `data` for a file that is damaged or none
 */
export async function describeModel(path: string) {
  const { metadata, arrayLengths, tensors } = await readGgufHeader(path);
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
    /** Numbers in all tensors. */
    parameters: tensors.reduce((sum, { shape }) => sum + valuesOf(shape), 0),
    quantisation: mainType(tensors),
    chatTemplate: templateFamily(text('tokenizer.chat_template')),
    /** Name in the file. */
    name: text('general.name'),
    licence: text('general.license'),
    /** Tokens of prompt and reply together. */
    contextLength: size('context_length'),
    layers: size('block_count'),
    /** Length of a text's vector. */
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

/** Type of most values, such as `Q4_K` or `F16`. */
function mainType(tensors: GgufHeader['tensors']): string {
  const values = new Map<string, number>();
  for (const { shape, type } of tensors) values.set(type, (values.get(type) ?? 0) + valuesOf(shape));
  return [...values].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'none';
}
