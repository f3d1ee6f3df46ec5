/** A Llama out of its GGUF file: sizes at once, weights when they are asked for. */
import { closeSync, openSync, readSync } from 'node:fs';
import { type GgufHeader, readGgufHeader } from '../llm/gguf/read-header.js';
import type { HostTensor } from '../nn/parameters.js';
import { WorkbenchError } from '../run/errors.js';
import { type LlamaConfig, llamaTensors } from './config.js';
import { readableTypes, tensorBytes, tensorValues } from './read-types.js';

/** A model file whose forward pass `layers` computes. */
export interface LlamaFile {
  path: string;
  /** `general.architecture`. */
  architecture: string;
  config: LlamaConfig;
  /** Has a tensor of this GGUF name. */
  has(name: string): boolean;
  /** A tensor of `llamaTensors` as float32, read and converted at each call. */
  tensor(name: string): HostTensor;
  /** Rows of a matrix, one behind the other, without reading the others. */
  rows(name: string, index: Int32Array): Float32Array;
  /** A tensor as the file holds it. */
  stored(name: string): { type: string; data: Uint8Array };
}

type Stored = GgufHeader['tensors'][number];
type Refuse = (got: string, hint?: string) => WorkbenchError;

const otherModel = 'Choose a Llama, or a Qwen2, as a GGUF file.';

/**
 * Opens a file of the architecture `llama` or `qwen2`.
 * @throws WorkbenchError `data` for a damaged file, another architecture, further tensors than such a model has, angles that are scaled
 *   otherwise than by `rope_freqs`, and types that are not read; `failure`, by the functions, when the file has changed since
 */
export function readLlama(path: string): LlamaFile {
  const header = readGgufHeader(path);
  const refuse: Refuse = (got, hint = otherModel) =>
    new WorkbenchError('data', `expected a Llama whose weights can be read, got ${got}, at ${path}`, { hint });
  const tensors = new Map(header.tensors.map((tensor) => [tensor.name, tensor]));
  const sizes = configOf(header, tensors, refuse);
  const ropeFactors = tensors.get('rope_freqs.weight');
  const pairs = sizes.dim / sizes.heads / 2;
  const wanted = [...llamaTensors(sizes), ...(ropeFactors ? [{ name: 'rope_freqs.weight', shape: [pairs] }] : [])];
  for (const { name, shape } of wanted) requireTensor(tensors.get(name), name, shape, refuse);
  if (tensors.size > wanted.length) {
    const names = new Set(wanted.map(({ name }) => name));
    throw refuse(`a tensor ${[...tensors.keys()].find((name) => !names.has(name))}`);
  }

  const bytesAt = (start: number, length: number): Buffer => {
    const descriptor = openSync(path, 'r');
    try {
      const bytes = Buffer.allocUnsafe(length);
      if (readSync(descriptor, bytes, 0, length, start) === length) return bytes;
    } finally {
      closeSync(descriptor);
    }
    throw new WorkbenchError('failure', `expected the model file as it was, got one that is cut short, at ${path}`);
  };
  const sizeOf = ({ shape }: Stored) => shape.reduce((product, length) => product * length, 1);
  const valuesOf = (tensor: Stored) => {
    const size = sizeOf(tensor);
    return tensorValues(tensor.type, bytesAt(tensor.start, tensorBytes(tensor.type, size)!), size);
  };
  return {
    path,
    architecture: String(header.metadata.get('general.architecture')),
    config: ropeFactors ? { ...sizes, ropeFactors: valuesOf(ropeFactors) } : sizes,
    has: (name) => tensors.has(name),
    tensor: (name) => {
      const tensor = tensors.get(name)!;
      return { shape: tensor.shape.toReversed(), data: valuesOf(tensor) };
    },
    rows: (name, index) => {
      const { type, start, shape } = tensors.get(name)!;
      const width = shape[0]!;
      const rowBytes = tensorBytes(type, width)!;
      const rows = new Float32Array(index.length * width);
      index.forEach((row, i) =>
        rows.set(tensorValues(type, bytesAt(start + row * rowBytes, rowBytes), width), i * width),
      );
      return rows;
    },
    stored: (name) => {
      const tensor = tensors.get(name)!;
      return { type: tensor.type, data: bytesAt(tensor.start, tensorBytes(tensor.type, sizeOf(tensor))!) };
    },
  };
}

function configOf({ metadata }: GgufHeader, tensors: ReadonlyMap<string, Stored>, refuse: Refuse): LlamaConfig {
  const architecture = metadata.get('general.architecture');
  if (architecture !== 'llama' && architecture !== 'qwen2') throw refuse(`the architecture ${architecture}`);
  const entry = (key: string) => metadata.get(`${architecture}.${key}`);
  const size = (key: string, otherwise?: number): number => {
    const value = entry(key) ?? otherwise;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 2 ** 24) return value;
    throw refuse(`${architecture}.${key} = ${value}`);
  };
  const positive = (key: string, otherwise?: number): number => {
    const value = entry(key) ?? otherwise;
    if (typeof value === 'number' && value > 0 && value < Infinity) return value;
    throw refuse(`${architecture}.${key} = ${value}`);
  };
  const [dim, layers, heads] = [size('embedding_length'), size('block_count'), size('attention.head_count')];
  const kvHeads = size('attention.head_count_kv', heads);
  if (dim % (2 * heads) !== 0 || heads % kvHeads !== 0) {
    throw refuse(`states of ${dim} numbers in ${heads} heads with ${kvHeads} of keys`);
  }
  for (const key of ['rope.dimension_count', 'attention.key_length', 'attention.value_length']) {
    if (size(key, dim / heads) !== dim / heads)
      throw refuse(`${architecture}.${key} = ${entry(key)}, not ${dim / heads}`);
  }
  const scaling = entry('rope.scaling.type') ?? (entry('rope.scale_linear') === undefined ? 'none' : 'linear');
  if (scaling !== 'none') throw refuse(`rotary angles with ${scaling} scaling`, 'Choose a Llama without it.');
  if (layers > tensors.size) throw refuse(`${layers} layers in ${tensors.size} tensors`);
  return {
    ...{ dim, layers, heads, kvHeads, contextLength: size('context_length'), hiddenDim: size('feed_forward_length') },
    vocabSize: tensors.get('token_embd.weight')?.shape[1] ?? 0,
    ropeTheta: positive('rope.freq_base', 10_000),
    normEps: positive('attention.layer_norm_rms_epsilon'),
    ...(architecture === 'qwen2' && { halves: true }),
    ...(tensors.has('blk.0.attn_q.bias') && { biased: true }),
    ...(tensors.has('output.weight') && { untied: true }),
  };
}

function requireTensor(tensor: Stored | undefined, name: string, shape: readonly number[], refuse: Refuse): void {
  if (tensor?.shape.toReversed().join() !== shape.join()) {
    throw refuse(`${name} of ${tensor ? `[${tensor.shape.toReversed().join()}]` : 'nothing'}, not [${shape.join()}]`);
  }
  if (tensorBytes(tensor.type, tensor.shape[0]!) !== undefined) return;
  const types = readableTypes.join(', ');
  throw refuse(
    `${name} as ${tensor.type}`,
    `Types that are read: ${types}. llama.cpp converts others: \`llama-quantize --allow-requantize MODEL.gguf NEW.gguf Q8_0\`.`,
  );
}
