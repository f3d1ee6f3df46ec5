/** What a person wants to know of a model file before using it, from its header alone. */
import { statSync } from 'node:fs';
import { type GgufHeader, readGgufHeader, tensorBytes } from './read-header.js';

/** Facts of a file; absent is what it does not state. */
export interface ModelDescription {
  architecture: string;
  /** As the file calls itself. */
  name?: string;
  licence?: string;
  bytes: number;
  /** Numbers in all tensors. */
  parameters: number;
  /** The type that most of them have, such as `Q4_K` or `F16`. */
  quantisation: string;
  /** Tokens of prompt and reply together. */
  contextLength?: number;
  layers?: number;
  /** Length of a text's vector. */
  embeddingLength?: number;
  heads?: number;
  /** Heads of keys and values, where several heads share one. */
  keyValueHeads?: number;
  /** Tokens it knows, and how texts become tokens, such as `bpe` or `bert`. */
  vocabulary?: number;
  tokenizer?: string;
  /** How a conversation is laid out: the family of its template, or `none`. */
  chatTemplate: string;
  /** How a text's vector is made of those of its tokens, where the file says it. */
  pooling?: string;
}

const poolings: Readonly<Record<number, string>> = { 1: 'mean', 2: 'cls', 3: 'last', 4: 'rank' };

/** Marks that only one family of templates has. */
const families: readonly (readonly [mark: string, family: string])[] = [
  ['<|im_start|>', 'ChatML'],
  ['<|start_header_id|>', 'Llama 3'],
  ['<start_of_turn>', 'Gemma'],
  ['[INST]', 'Llama 2 or Mistral'],
  ['<|assistant|>', 'Zephyr or Phi'],
];

/** Names of ggml's types. @source ggml.h, `enum ggml_type` */
const typeNames: Readonly<Record<number, string>> = {
  ...{ 0: 'F32', 1: 'F16', 2: 'Q4_0', 3: 'Q4_1', 6: 'Q5_0', 7: 'Q5_1', 8: 'Q8_0', 9: 'Q8_1', 10: 'Q2_K', 11: 'Q3_K' },
  ...{ 12: 'Q4_K', 13: 'Q5_K', 14: 'Q6_K', 15: 'Q8_K', 16: 'IQ2_XXS', 17: 'IQ2_XS', 18: 'IQ3_XXS', 19: 'IQ1_S' },
  ...{
    20: 'IQ4_NL',
    21: 'IQ3_S',
    22: 'IQ2_S',
    23: 'IQ4_XS',
    29: 'IQ1_M',
    30: 'BF16',
    34: 'TQ1_0',
    35: 'TQ2_0',
    39: 'MXFP4',
  },
};

/** @throws WorkbenchError `data` for a file that is damaged or none */
export function describeModel(path: string): ModelDescription {
  const { metadata, arrayLengths, tensors } = readGgufHeader(path);
  const text = (key: string) => (typeof metadata.get(key) === 'string' ? (metadata.get(key) as string) : undefined);
  const architecture = text('general.architecture') ?? 'unknown';
  const size = (key: string) => {
    const value = metadata.get(`${architecture}.${key}`);
    return typeof value === 'number' ? value : undefined;
  };
  const template = text('tokenizer.chat_template');
  const sizes = {
    name: text('general.name'),
    licence: text('general.license'),
    contextLength: size('context_length'),
    layers: size('block_count'),
    embeddingLength: size('embedding_length_out') ?? size('embedding_length'),
    heads: size('attention.head_count'),
    keyValueHeads: size('attention.head_count_kv'),
    vocabulary: arrayLengths.get('tokenizer.ggml.tokens'),
    tokenizer: text('tokenizer.ggml.model'),
    pooling: poolings[size('pooling_type') ?? 0],
  };
  const known = Object.entries(sizes).filter(([, value]) => value !== undefined);
  return {
    architecture,
    bytes: statSync(path).size,
    parameters: tensors.reduce((sum, { shape }) => sum + valuesOf(shape), 0),
    quantisation: mainType(tensors),
    chatTemplate:
      template === undefined ? 'none' : (families.find(([mark]) => template.includes(mark))?.[1] ?? 'its own'),
    ...(Object.fromEntries(known) as Partial<typeof sizes>),
  } as ModelDescription;
}

const valuesOf = (shape: readonly number[]) => shape.reduce((product, length) => product * length, 1);

/** The type that takes most of the bytes. */
function mainType(tensors: GgufHeader['tensors']): string {
  const bytes = new Map<number, number>();
  for (const { shape, type } of tensors) {
    const values = valuesOf(shape);
    bytes.set(type, (bytes.get(type) ?? 0) + (tensorBytes(type, values) ?? values));
  }
  const [most] = [...bytes].sort((a, b) => b[1] - a[1]);
  return most === undefined ? 'none' : (typeNames[most[0]] ?? `type ${most[0]}`);
}
