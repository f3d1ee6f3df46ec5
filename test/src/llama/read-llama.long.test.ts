import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LlamaConfig, llamaTensors } from '../../../src/llama/config.js';
import { equalSequences } from '../../../src/llama/forest.js';
import { frozenWeights } from '../../../src/llama/frozen.js';
import { embed, lastNorm, layers, logitsOf } from '../../../src/llama/forward.js';
import { readableTypes, tensorBytes } from '../../../src/llama/read-types.js';
import { type LlamaFile, readLlama } from '../../../src/llama/read-llama.js';
import { toFloat16 } from '../../../src/llama/write-types.js';
import { type GgufEntryValue, writeGguf } from '../../../src/llama/write-gguf.js';
import { readGgufHeader } from '../../../src/llm/gguf/read-header.js';
import type { Executor } from '../../../src/nn/executor.js';
import { Parameters } from '../../../src/nn/parameters.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { Tape } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { llamaCppLogits } from '../../fixtures/llama-cpp-logits.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const small: LlamaConfig = {
  ...{ vocabSize: 40, contextLength: 128, dim: 32, layers: 2, heads: 4, kvHeads: 2, hiddenDim: 48 },
  ...{ ropeTheta: 10_000, normEps: 1e-5 },
};
const folder = folderWith({});
let written = 0;
const ids = Int32Array.from({ length: 30 }, (_, i) => (7 * i + 3) % 40);
const places = Int32Array.of(0, 5, 29);

/** A file with a vocabulary of letters. @param entries beside the sizes, or others in their place */
function writeLlama(
  config: LlamaConfig,
  { architecture = 'llama', entries = {}, silent = /^$/ }: { architecture?: string; entries?: Record<string, GgufEntryValue>; silent?: RegExp } = {}, // prettier-ignore
): string {
  const path = join(folder, `${written++}.gguf`);
  const rng = new Rng(2);
  const [table, ...others] = llamaTensors(config);
  // Its type is changed below, where nothing may stand behind it.
  const wanted = [
    ...others,
    ...(config.ropeFactors ? [{ name: 'rope_freqs.weight', shape: [config.ropeFactors.length] }] : []),
    table!,
  ];
  const tensors = wanted.map(({ name, shape }) => {
    const [length, inputs] = shape;
    const value = () => (inputs ? (1.5 * rng.normal()) / Math.sqrt(inputs) : 1 + 0.3 * rng.normal());
    const values = Float32Array.from({ length: length! * (inputs ?? 1) }, silent.test(name) ? () => 0 : value);
    return {
      ...{ name, shape: shape.toReversed(), type: 'F32' as const },
      values: name === 'rope_freqs.weight' ? config.ropeFactors! : values,
    };
  });
  const sizes: Record<string, GgufEntryValue> = {
    vocab_size: { uint32: config.vocabSize },
    context_length: { uint32: config.contextLength },
    embedding_length: { uint32: config.dim },
    block_count: { uint32: config.layers },
    feed_forward_length: { uint32: config.hiddenDim },
    'attention.head_count': { uint32: config.heads },
    'attention.head_count_kv': { uint32: config.kvHeads },
    'attention.layer_norm_rms_epsilon': { float32: config.normEps },
    'rope.freq_base': { float32: config.ropeTheta },
    ...entries,
  };
  const named = Object.entries(sizes).map(([key, value]) => [`${architecture}.${key}`, value]);
  const metadata = {
    'general.architecture': architecture,
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': Array.from({ length: config.vocabSize }, (_, i) => String.fromCharCode(65 + i)),
    'tokenizer.ggml.token_type': new Int32Array(config.vocabSize).fill(1),
    'tokenizer.ggml.merges': ['A B'],
    'tokenizer.ggml.bos_token_id': { uint32: 0 },
    'tokenizer.ggml.eos_token_id': { uint32: 1 },
  };
  writeGguf(path, { ...metadata, ...(Object.fromEntries(named) as typeof sizes) }, tensors);
  return path;
}

async function logitsHere(file: LlamaFile): Promise<number[][]> {
  const executor: Executor = new SimdExecutor();
  const { config } = file;
  const weights = frozenWeights(executor, file);
  const tape = new Tape(new Parameters(executor, {}), false);
  const forest = equalSequences(ids, ids.length);
  const x = layers(tape, config, weights, forest, embed(tape, weights, forest), 0, config.layers, { rows: places });
  const logits = await tape.outputs([logitsOf(tape, weights, lastNorm(tape, config, weights, x))]).read();
  return Array.from(places, (_, i) => [...logits.subarray(i * config.vocabSize, (i + 1) * config.vocabSize)]);
}

describe('a model with a difference has the logits of llama.cpp', () => {
  test.each<[string, LlamaConfig, string]>([
    ['none', small, 'llama'],
    ['an output matrix of its own', { ...small, untied: true }, 'llama'],
    ['factors of angles', { ...small, ropeFactors: Float32Array.of(1, 1.5, 4, 8) }, 'llama'],
    ['biases', { ...small, biased: true }, 'llama'],
    ['Qwen2: biases, and halves that turn together', { ...small, biased: true, halves: true }, 'qwen2'],
  ])('%s', async (_, config, architecture) => {
    const path = writeLlama(config, { architecture });
    const file = readLlama(path);
    expect(file.config).toEqual({ ...config, normEps: Math.fround(config.normEps) });
    const theirs = await llamaCppLogits(path, ids, places);
    // Keys and values are kept as halves there.
    (await logitsHere(file)).forEach((row, i) => expectClose(row, theirs[i]!, 0.02));
  });
});

describe('numbers are those of llama.cpp, stored as', () => {
  const wide: LlamaConfig = { ...small, dim: 512, layers: 1, untied: true };
  const numbers: Record<string, number> = { F32: 0, F16: 1, Q4_0: 2, Q4_1: 3, Q5_0: 6, Q5_1: 7, Q8_0: 8, Q4_K: 12, Q6_K: 14, BF16: 30 }; // prettier-ignore
  /** Bytes of a block, and where in it halves stand that must be numbers. */
  const halves: Record<string, [number, number[]]> = {
    ...{ Q4_0: [18, [0]], Q4_1: [20, [0, 2]], Q5_0: [22, [0]], Q5_1: [24, [0, 2]], Q8_0: [34, [0]] },
    ...{ Q4_K: [144, [0, 2]], Q6_K: [210, [208]], F16: [2, [0]], BF16: [2, [0]], F32: [4, []] },
  };

  test.each(readableTypes)('%s', async (type) => {
    // Layers that add nothing: what is left is the table of embeddings, which llama.cpp does not round.
    const path = writeLlama(wide, { silent: /attn_output|ffn_down/ });
    const { start } = readGgufHeader(path).tensors.find(({ name }) => name === 'token_embd.weight')!;
    const file = readFileSync(path);
    const length = tensorBytes(type, 512 * 40)!;
    const rng = new Rng(8);
    const [block, at] = halves[type]!;
    const halfOf = (value: number) => {
      const single = Float32Array.of(value);
      return type === 'BF16' ? new Uint16Array(single.buffer)[1]! : toFloat16(single)[0]!;
    };
    if (type !== 'F32') {
      for (let i = 0; i < length; i++) file[start + i] = rng.integer(256);
      for (let i = 0; i < length; i += block) {
        for (const place of at) file.writeUInt16LE(halfOf(rng.normal()), start + i + place);
      }
    }
    const numberAt = file.indexOf('token_embd.weight') + 'token_embd.weight'.length + 4 + 2 * 8;
    file.writeUInt32LE(numbers[type]!, numberAt);
    writeFileSync(path, file);
    const opened = readLlama(path);
    const table = opened.tensor('token_embd.weight').data;
    expect(opened.rows('token_embd.weight', Int32Array.of(3, 39))).toEqual(
      Float32Array.of(...table.slice(3 * 512, 4 * 512), ...table.slice(39 * 512)),
    );
    const theirs = await llamaCppLogits(path, ids, places);
    (await logitsHere(opened)).forEach((row, i) => expectClose(row, theirs[i]!, 1e-3));
  });

  test('another type is refused, with those that are read', async () => {
    const path = writeLlama(wide);
    const file = readFileSync(path);
    file.writeUInt32LE(10, file.indexOf('token_embd.weight') + 'token_embd.weight'.length + 4 + 2 * 8);
    writeFileSync(path, file);
    const hint = /^Types that are read: F32, F16, .*Q6_K\. llama\.cpp converts others: `llama-quantize .* Q8_0`\.$/;
    await expect(new Promise((resolve) => resolve(readLlama(path)))).rejects.toMatchObject({
      ...{ code: 'data', message: expect.stringMatching(/got token_embd.weight as Q2_K, at/) as unknown },
      hint: expect.stringMatching(hint) as unknown,
    });
  });
});
