import { beforeAll, describe, expect, test } from '@jest/globals';
import type { LlamaConfig } from '../../../src/llama/config.js';
import { embed, lastNorm, layers, logitsOf, trainedWeights } from '../../../src/llama/forward.js';
import { forestOf } from '../../../src/llama/forest.js';
import { loraStart } from '../../../src/llama/lora.js';
import { rotate, rotation } from '../../../src/llama/rotary.js';
import { hiddenStates, labelLogProbs, targetLogits } from '../../../models/llama/token-loss.js';
import { llamaParameters, startingWeights } from '../../../models/llama/weights.js';
import type { Executor } from '../../../src/nn/executor.js';
import { openExecutor } from '../../../src/nn/open-executor.js';
import { Parameters } from '../../../src/nn/parameters.js';
import { Tape } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import { checkGradient, expectClose } from '../../fixtures/gradient-check.js';
import { llamaForward } from '../../fixtures/llama-forward.js';
import { executorsHere } from '../../fixtures/executors.js';

const config: LlamaConfig = {
  vocabSize: 23,
  contextLength: 160,
  dim: 16,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  hiddenDim: 20,
  ropeTheta: 100,
  normEps: 1e-5,
};

const executors = await executorsHere();

function drawnIds(count: number): Int32Array {
  const rng = new Rng(5);
  return Int32Array.from({ length: count }, () => rng.integer(config.vocabSize));
}

describe.each(executors)('the forward pass on %s', (name) => {
  let executor: Executor;
  beforeAll(async () => {
    ({ executor } = await openExecutor(name));
  });

  const logits = async (weights: ReadonlyMap<string, Float32Array>, ids: Int32Array, batch: number, sizes = config) => {
    const tape = new Tape(llamaParameters(executor, sizes, weights), false);
    const states = hiddenStates(tape, sizes, { ids, batch, length: ids.length / batch });
    const values = await tape.outputs([logitsOf(tape, trainedWeights(tape), states)]).read();
    tape.parameters.dispose();
    return values;
  };

  test('gives what plain loops give, for sequences longer than a block of queries', async () => {
    const ids = drawnIds(300);
    const weights = startingWeights(config, 3);
    const expected = [ids.slice(0, 150), ids.slice(150)].flatMap((part) =>
      llamaForward(config, weights, [...part]).logits.flatMap((row) => [...row]),
    );
    expectClose(await logits(weights, ids, 2), expected, 1e-4);
  });

  test('never lets a token change what was said before it', async () => {
    const weights = startingWeights(config, 3);
    const ids = drawnIds(140);
    const before = await logits(weights, ids, 1);
    const after = await logits(weights, ids.with(130, (ids[130]! + 1) % config.vocabSize), 1);
    const row = 130 * config.vocabSize;
    expect(after.slice(0, row)).toEqual(before.slice(0, row));
    expect(after.slice(row, row + config.vocabSize)).not.toEqual(before.slice(row, row + config.vocabSize));
  });

  test('with shared key heads is the one whose key heads are repeated', async () => {
    const weights = new Map(startingWeights(config, 3));
    const shared = await logits(weights, drawnIds(12), 1);
    const size = config.dim / config.heads;
    const repeated = new Map(
      [...weights].map(([name, values]): [string, Float32Array] => {
        if (!/attn_[kv]\.weight$/.test(name)) return [name, values];
        const head = (h: number) => values.slice(h * size * config.dim, (h + 1) * size * config.dim);
        return [name, Float32Array.from([0, 0, 1, 1].flatMap((h) => [...head(h)]))];
      }),
    );
    expectClose(await logits(repeated, drawnIds(12), 1, { ...config, kvHeads: 4 }), shared, 1e-4);
  });

  test('has the gradient that finite differences measure', async () => {
    const parameters = llamaParameters(executor, config, startingWeights(config, 3));
    const tokens = { ids: drawnIds(18), batch: 2, length: 9 };
    const targets = {
      rows: Int32Array.of(0, 3, 8, 9, 17),
      labels: Int32Array.of(4, 22, 0, 7, 4),
      weights: Float32Array.of(1, 0.5, 1, 0.05, 1),
    };
    const tape = new Tape(parameters);
    await checkGradient(parameters, () => {
      tape.begin();
      return tape.outputs([labelLogProbs(tape, targetLogits(tape, config, tokens, targets), targets.labels)]);
    });
    parameters.dispose();
  });

  test('has that gradient over several blocks of queries, too', async () => {
    const parameters = llamaParameters(executor, config, startingWeights(config, 3));
    const tokens = { ids: drawnIds(140), batch: 1, length: 140 };
    const targets = { rows: Int32Array.of(20, 139), labels: Int32Array.of(4, 22), weights: Float32Array.of(1, 1) };
    const tape = new Tape(parameters);
    await checkGradient(parameters, () => {
      tape.begin();
      return tape.outputs([labelLogProbs(tape, targetLogits(tape, config, tokens, targets), targets.labels)]);
    });
    parameters.dispose();
  });

  test('over a forest, with low-rank matrices, is that of plain sequences and has the gradient of finite differences', async () => {
    const ids = drawnIds(19);
    const forest = forestOf([
      { ids: ids.slice(0, 8), parent: -1 },
      { ids: ids.slice(8, 12), parent: 0 },
      { ids: ids.slice(12, 15), parent: 0 },
      { ids: ids.slice(15), parent: 1 },
    ]);
    const whole = [...ids.slice(0, 12), ...ids.slice(15)];
    const frozen = llamaParameters(executor, config, startingWeights(config, 3));
    const below = trainedWeights(new Tape(frozen, false));
    const fixed = { find: (name: string) => below.find(name) && tape.fixed(below.find(name)!) };
    const lora = { rank: 2, alpha: 4, from: 1 };
    const start = loraStart(config, lora, 1);
    const parameters = new Parameters(executor, start);
    const tape = new Tape(parameters);
    const weights = trainedWeights(tape, fixed, lora.alpha / lora.rank);
    const outputs = () => {
      tape.begin();
      const x = layers(tape, config, weights, forest, embed(tape, fixed, forest), 0, 2, {
        rows: Int32Array.of(14, 18),
      });
      return tape.outputs([lastNorm(tape, config, weights, x)]);
    };
    const expected = llamaForward(config, startingWeights(config, 3), whole).states.at(-1)!;
    expectClose((await outputs().read()).slice(config.dim), expected, 1e-4);
    const moved = Object.entries(start).map(([name, { shape, data }]) => {
      const rng = Rng.named(1, name);
      return [name, { shape, data: data.map((value) => value || rng.normal() / 4) }];
    });
    parameters.import(Object.fromEntries(moved) as typeof start);
    await checkGradient(parameters, outputs);
    parameters.dispose();
    frozen.dispose();
  });

  test('turns queries and keys so that their product depends on their distance alone', async () => {
    const length = 40;
    const rng = new Rng(9);
    const [query, key] = [0, 1].map(() => Array.from({ length: 4 }, () => rng.normal()));
    const turned = (vector: number[]) => {
      const tape = new Tape(new Parameters(executor, {}), false);
      const rows = tape.constant(
        Float32Array.from({ length: 4 * length }, (_, i) => vector[i % 4]!),
        4,
      );
      const turn = rotation(
        tape,
        { ...config, dim: 4, heads: 1 },
        Int32Array.from({ length }, (_, i) => i),
        1,
      );
      return tape.outputs([rotate(tape, rows, turn)]).read();
    };
    const [q, k] = [await turned(query!), await turned(key!)];
    const product = (at: number, to: number) =>
      [0, 1, 2, 3].reduce((sum, i) => sum + q[at * 4 + i]! * k[to * 4 + i]!, 0);
    expectClose([product(5, 2), product(39, 36)], [product(20, 17), product(20, 17)], 1e-4);
    expect(Math.abs(product(5, 2) - product(5, 4))).toBeGreaterThan(1e-3);
  });
});
