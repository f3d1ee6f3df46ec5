/**
 * Text through a local model on one thread a lane, as bench/peers/llama_cpp_bench.py measures it: 650 tokens from empty, 40 new tokens
 * after 650 that are held (both as the peer does it, without a vector), a vector of a 650-token text, and, beyond the peer,
 * vectors of texts that share their first 650 tokens, by the encoder with `prefixReuse: auto`.
 *
 *     node dist/bench/rows/encode.js MODEL.gguf [--seconds 5] [--device off|auto|cuda|vulkan|metal] [--lanes 1]
 *       [--tokens 650] [--tail 40]
 *
 * `--device` says where llama.cpp computes, `--lanes` how many texts the encoder has under way at once.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { argv } from 'node:process';
import { parseArgs } from 'node:util';
import type { Token } from 'node-llama-cpp';
import { openLlamaEncoder } from '../../src/encoder/llama-encoder.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import { cutBack } from '../../src/llm/llama/prefix-cache.js';
import { openLlama } from '../../src/llm/llama-library.js';
import type { LlamaDevice } from '../../src/llm/llama-options.js';
import { Rng } from '../../src/run/seeds.js';
import { emitRate, repeatFor } from '../measure.js';
import { plainWords } from '../random-model.js';

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  allowPositionals: true,
  options: {
    threads: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    device: { type: 'string', default: 'off' },
    lanes: { type: 'string', default: '1' },
    tokens: { type: 'string', default: '650' },
    tail: { type: 'string', default: '40' },
  },
});
const [modelPath = ''] = positionals;
const window = Number(values.seconds) / 4;
const [long, tail] = [Number(values.tokens), Number(values.tail)];
/** Tokens evaluated at once; 512, as the peer takes, is 3 % slower here. */
const batch = 128;
const rng = Rng.named(0, 'bench/encode');
const device = values.device as LlamaDevice;
const lanes = Number(values.lanes);
const { gpu } = await openLlama(device);
const settings = { model: basename(modelPath), device: gpu === false ? 'processor' : gpu };

await evaluation();
await encoding();

/** Speed of the model on tokens, without vectors. */
async function evaluation(): Promise<void> {
  const llama = await openLlama(device);
  const model = await llama.loadModel({ modelPath, defaultContextFlashAttention: false });
  const context = await model.createContext({ contextSize: 1024, batchSize: batch, threads: 1 });
  const sequence = context.getSequence();
  const vocabulary = model.fileInfo.metadata.tokenizer.ggml.tokens.length;
  const first = Math.min(100, vocabulary >> 2);
  const tokens = (count: number) =>
    Array.from({ length: count }, () => (first + rng.integer(vocabulary - first)) as Token);
  const evaluate = async (held: number, count: number) => {
    await cutBack(sequence, held);
    for (let left = count; left > 0; left -= batch) {
      await sequence.evaluateWithoutGeneratingNewTokens(tokens(Math.min(left, batch)));
    }
    return count;
  };
  const prompt = await repeatFor(() => evaluate(0, long), window, 1);
  emitRate({ task: 'llm-prompt', settings: { ...settings, batch, tokens: long }, unit: 'tokens/s', ...prompt });
  const after = await repeatFor(() => evaluate(long, tail), window, 1);
  const held = { ...settings, batch, prefix: long, tokens: tail };
  emitRate({ task: 'llm-prefix-tail', settings: held, unit: 'tokens/s', ...after });
  await model.dispose();
}

/** Speed of the encoder on texts, its cache included. */
async function encoding(): Promise<void> {
  for (const prefixReuse of ['off', 'auto'] as const) {
    const cacheFolder = mkdtempSync(join(tmpdir(), 'kgwalk-bench-'));
    const encoder = await openLlamaEncoder({
      modelPath,
      cacheFolder,
      settings: { ...encoderSettings.parse({ workers: lanes, prefixReuse }), gpu: device },
    });
    const begin = prefixReuse === 'auto' ? words(long) : '';
    const count = lanes * (prefixReuse === 'auto' ? 4 : 1);
    const length = prefixReuse === 'auto' ? tail : long;
    const work = async () => {
      await encoder.encode(Array.from({ length: count }, () => `${begin} ${words(length - 1)}`));
      return count;
    };
    const done = await repeatFor(work, window, 1);
    const { tokens, reusedTokens } = encoder.counters;
    emitRate({
      task: prefixReuse === 'auto' ? 'llm-embed-tail' : 'llm-embed',
      settings: { ...settings, lanes, tokens: length, ...(begin && { prefix: long }), pooling: 'last' },
      unit: 'embeddings/s',
      ...done,
      quality: { tokens, reused_tokens: reusedTokens },
    });
    await encoder.dispose();
    rmSync(cacheFolder, { recursive: true, force: true });
  }
}

function words(count: number): string {
  return Array.from({ length: count }, () => plainWords[rng.integer(plainWords.length)]).join(' ');
}
