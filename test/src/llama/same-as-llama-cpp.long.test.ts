import { describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { forestOf } from '../../../src/llama/forest.js';
import { frozenLlama } from '../../../src/llama/frozen.js';
import { lastNorm, layers, logitsOf, trainedWeights } from '../../../src/llama/forward.js';
import { loraStart, type LoraSettings, writeAdapter } from '../../../src/llama/lora.js';
import { type LlamaFile, readLlama } from '../../../src/llama/read-llama.js';
import { Parameters } from '../../../src/nn/parameters.js';
import { softmax } from '../../../src/nn/categorical.js';
import { AdamW } from '../../../src/nn/adamw.js';
import type { Executor } from '../../../src/nn/executor.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { Tape } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import { llamaCppLogits } from '../../fixtures/llama-cpp-logits.js';
import { centredCosine } from '../../fixtures/llama-forward.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const models = join(env.KGWALK_TEST_DATA ?? 'nowhere', 'models');
/** `cosine`: of logits, at least; `off`: of probabilities, at most. llama.cpp rounds both sides of a product with quantized weights, and keys and values to halves. */
const files = [
  { path: 'models/demo/kgwalk-demo.gguf', cosine: 0.999, off: 0.03 },
  { path: join(models, 'stories260K.f32.gguf'), cosine: 0.9999, off: 0.01 },
  { path: join(models, 'SmolLM2-135M-Instruct.Q4_1.gguf'), cosine: 0.996, off: 0.06 },
].filter(({ path }) => existsSync(path));
if (files.length < 3) stderr.write('skipped: real Llamas (set KGWALK_TEST_DATA to the folder that holds models/)\n');

/** The same here: lower layers frozen, the last ones with the parameters. */
async function ourLogits(
  file: LlamaFile,
  ids: Int32Array,
  places: Int32Array,
  { from = file.config.layers - 1, start = {}, scale = 1 }: { from?: number; start?: object; scale?: number } = {},
) {
  const executor: Executor = new SimdExecutor();
  const { config } = file;
  // A head and what stands behind it.
  const forest = forestOf([
    { ids: ids.subarray(0, 9), parent: -1 },
    { ids: ids.subarray(9), parent: 0 },
  ]);
  const frozen = frozenLlama(executor, file);
  const parts = await frozen.states(forest, from, [0, 1]);
  const tape = new Tape(new Parameters(executor, start as never), false);
  const weights = trainedWeights(tape, frozen.weights, scale);
  const x = tape.stack(parts.map((part) => tape.constant(part, config.dim)));
  const states = lastNorm(tape, config, weights, layers(tape, config, weights, forest, x, from));
  const logits = await tape.outputs([logitsOf(tape, weights, tape.rows(states, places))]).read();
  return Array.from(places, (_, i) => logits.subarray(i * config.vocabSize, (i + 1) * config.vocabSize));
}

/** Low-rank matrices that make a token likely behind others. */
async function trainedStart(file: LlamaFile, ids: Int32Array, lora: LoraSettings, label: number) {
  const executor: Executor = new SimdExecutor();
  const { config } = file;
  const frozen = frozenLlama(executor, file);
  const forest = forestOf([{ ids, parent: -1 }]);
  const [below] = await frozen.states(forest, lora.from, [0]);
  const parameters = new Parameters(executor, loraStart(config, lora, 1));
  const tape = new Tape(parameters);
  const weights = trainedWeights(tape, frozen.weights, lora.alpha / lora.rank);
  const optimizer = new AdamW(parameters);
  const rows = Int32Array.of(ids.length - 1);
  for (let step = 0; step < 200; step++) {
    optimizer.zeroGrad();
    tape.begin();
    const x = tape.constant(below!, config.dim);
    const states = layers(tape, config, weights, forest, x, lora.from, config.layers, { rows });
    const logProbs = tape.logSoftmax(logitsOf(tape, weights, lastNorm(tape, config, weights, states)));
    const outputs = tape.outputs([tape.columns(logProbs, label, 1)]);
    if ((await outputs.read())[0]! > Math.log(0.7)) break;
    outputs.backward(Float32Array.of(-1));
    await optimizer.step(0.01);
  }
  return parameters.export();
}

function drawnIds({ config }: LlamaFile, count: number): Int32Array {
  const rng = new Rng(4);
  return Int32Array.from({ length: count }, (_, i) =>
    i === 0 ? 1 : 3 + rng.integer(Math.min(config.vocabSize, 2000) - 3),
  );
}

describe.each(files)('$path', ({ path, cosine, off }) => {
  const file = readLlama(path);
  const ids = drawnIds(file, 60);
  const places = Int32Array.of(3, 8, 9, 30, 59);

  test('has the logits of llama.cpp, without and with a trained adapter', async () => {
    const [ours, theirs] = [await ourLogits(file, ids, places), await llamaCppLogits(path, ids, places)];
    const lora = { rank: 4, alpha: 8, from: Math.max(0, file.config.layers - 2) };
    const label = 400;
    const start = await trainedStart(file, ids, lora, label);
    const adapter = join(folderWith({}), 'adapter.gguf');
    writeAdapter(adapter, file.architecture, lora.alpha, start);
    const ourAdapted = await ourLogits(file, ids, places, { from: lora.from, start, scale: lora.alpha / lora.rank });
    const theirAdapted = await llamaCppLogits(path, ids, places, { lora: { adapters: [{ filePath: adapter }] } });
    for (const i of places.keys()) {
      for (const [here, there] of [
        [ours[i]!, theirs[i]!],
        [ourAdapted[i]!, theirAdapted[i]!],
      ] as const) {
        expect(centredCosine(here, there)).toBeGreaterThan(cosine);
        const expected = softmax(Float32Array.from(there));
        const most = softmax(here).reduce((all, share, id) => Math.max(all, Math.abs(share - expected[id]!)), 0);
        expect(most).toBeLessThan(off);
      }
    }
    expect(softmax(Float32Array.from(ours.at(-1)!))[label]).toBeLessThan(0.1);
    expect(softmax(Float32Array.from(theirAdapted.at(-1)!))[label]).toBeGreaterThan(0.5);
  });
});
