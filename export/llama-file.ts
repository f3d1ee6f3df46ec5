/** A small Llama out of its GGUF file, for pages that compute vectors by themselves. */
import { readFileSync } from 'node:fs';
import { type LlamaConfig, llamaTensors } from '../models/llama/config.js';
import { type TensorType, tensorTypes } from '../models/llama/tensor-types.js';
import type { Merge } from '../models/llama/byte-pair/vocabulary.js';
import { readGgufHeader } from '../src/llm/gguf/read-header.js';
import { llamaLibrary } from '../src/llm/llama-library.js';
import type { LlamaPart } from './page/texts.js';

/** Bytes of a file that a page may hold. */
const mostBytes = 4 * 2 ** 20;

/** The model of a file; undefined for another kind, for one that pools otherwise, and for a larger one. */
export async function llamaPart(path: string): Promise<LlamaPart | undefined> {
  const { metadata, tensors } = readGgufHeader(path);
  const file = new Uint8Array(readFileSync(path));
  const is = (key: string, value: string) => metadata.get(key) === value;
  const isOurs =
    is('general.architecture', 'llama') && is('tokenizer.ggml.model', 'gpt2') && is('tokenizer.ggml.pre', 'gpt-2');
  if (!isOurs || file.length > mostBytes || Number(metadata.get('llama.pooling_type') ?? 3) !== 3) return undefined;
  const number = (key: string) => Number(metadata.get(`llama.${key}`));
  const config: LlamaConfig = {
    vocabSize: number('vocab_size'),
    contextLength: number('context_length'),
    dim: number('embedding_length'),
    layers: number('block_count'),
    heads: number('attention.head_count'),
    kvHeads: number('attention.head_count_kv'),
    hiddenDim: number('feed_forward_length'),
    ropeTheta: number('rope.freq_base'),
    normEps: number('attention.layer_norm_rms_epsilon'),
  };
  const starts = tensors.map(({ start }) => start).sort((a, b) => a - b);
  const dataOf = (start: number) =>
    file.subarray(
      start,
      starts.find((other) => other > start),
    );
  const isReadable = ({ type }: { type: string }) => (tensorTypes as readonly string[]).includes(type);
  const kept = new Map(
    tensors
      .filter(isReadable)
      .map(({ name, type, start }) => [name, { type: type as TensorType, data: dataOf(start) }]),
  );
  const wanted = llamaTensors(config);
  if (tensors.length !== wanted.length || !wanted.every(({ name }) => kept.has(name))) return undefined;
  const { readGgufFileInfo } = await llamaLibrary();
  const { metadata: whole } = await readGgufFileInfo(path, { sourceType: 'filesystem', logWarnings: false });
  const { merges = [] } = whole.tokenizer.ggml as { merges?: readonly string[] };
  return { config, merges: merges.map((merge) => merge.split(' ') as unknown as Merge), tensors: kept };
}
