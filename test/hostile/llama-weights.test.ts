import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { llamaTensors } from '../../src/llama/config.js';
import { readLlama } from '../../src/llama/read-llama.js';
import { type GgufEntryValue, type GgufTensorData, writeGguf } from '../../src/llama/write-gguf.js';
import { folderWith } from '../fixtures/tiny-release.js';

const config = {
  ...{ vocabSize: 5, contextLength: 16, dim: 8, layers: 1, heads: 2, kvHeads: 1, hiddenDim: 12 },
  ...{ ropeTheta: 10_000, normEps: 1e-5 },
};
const metadata: Record<string, GgufEntryValue> = {
  'general.architecture': 'llama',
  'llama.context_length': { uint32: 16 },
  'llama.embedding_length': { uint32: 8 },
  'llama.block_count': { uint32: 1 },
  'llama.feed_forward_length': { uint32: 12 },
  'llama.attention.head_count': { uint32: 2 },
  'llama.attention.head_count_kv': { uint32: 1 },
  'llama.attention.layer_norm_rms_epsilon': { float32: 0.5 },
};
const whole = llamaTensors(config).map(({ name, shape }): GgufTensorData => {
  const size = shape.reduce((product: number, length) => product * length, 1);
  return { name, shape: shape.toReversed(), type: 'F32', values: Float32Array.from({ length: size }, (_, i) => i) };
});
const path = join(folderWith({}), 'model.gguf');
const read = (entries: Record<string, GgufEntryValue> = {}, tensors = whole) => {
  writeGguf(path, { ...metadata, ...entries }, tensors);
  return readLlama(path);
};
const uint32 = (value: number) => ({ uint32: value });
const extra: GgufTensorData = {
  name: 'blk.0.attn_q_norm.weight',
  shape: [4],
  type: 'F32',
  values: new Float32Array(4),
};

describe('a file of a Llama', () => {
  test('is read with defaults', () => {
    const file = read();
    expect(file.config).toEqual({ ...config, normEps: 0.5 });
    expect(file.tensor('blk.0.attn_k.weight')).toEqual({
      shape: [4, 8],
      data: Float32Array.from({ length: 32 }, (_, i) => i),
    });
    expect([...file.rows('token_embd.weight', Int32Array.of(4, 0)).slice(6, 10)]).toEqual([38, 39, 0, 1]);
  });

  test.each<[string, Record<string, GgufEntryValue>, GgufTensorData[], RegExp]>([
    ['of another architecture', { 'general.architecture': 'gpt2' }, whole, /got the architecture gpt2/],
    ['without a size', { 'llama.block_count': 'x' }, whole, /got llama.block_count = x/],
    [
      'of more layers than tensors',
      { 'llama.block_count': uint32(9_000_000) },
      whole,
      /got 9000000 layers in 11 tensors/,
    ],
    [
      'with heads that do not divide',
      { 'llama.attention.head_count': uint32(3) },
      whole,
      /got states of 8 numbers in 3 heads/,
    ],
    ['with heads of another size', { 'llama.attention.key_length': uint32(6) }, whole, /key_length = 6, not 4/],
    ['with scaled angles', { 'llama.rope.scaling.type': 'yarn' }, whole, /got rotary angles with yarn scaling/],
    ['without a tensor', {}, whole.slice(0, -1), /got output_norm.weight of nothing, not \[8\]/],
    [
      'with a matrix of another shape',
      { 'llama.feed_forward_length': uint32(24) },
      whole,
      /ffn_gate.weight of \[12,8\], not \[24,8\]/,
    ],
    ['with another tensor', {}, [...whole, extra], /got a tensor blk.0.attn_q_norm.weight/],
  ])('%s is refused', async (_, entries, tensors, message) => {
    const failed = new Promise((resolve) => resolve(read(entries, tensors)));
    await expect(failed).rejects.toMatchObject({ code: 'data', message: expect.stringMatching(message) as unknown });
  });
});
