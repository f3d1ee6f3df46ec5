import { describe, expect, test } from '@jest/globals';
import type { LlamaConfig } from '../../../src/llama/config.js';
import { equalSequences, type Forest, forestOf, type Segment } from '../../../src/llama/forest.js';
import { embed, lastNorm, layers, logitsOf, trainedWeights } from '../../../src/llama/forward.js';
import { loraStart } from '../../../src/llama/lora.js';
import { llamaParameters, startingWeights } from '../../../models/llama/weights.js';
import type { Executor } from '../../../src/nn/executor.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { Parameters } from '../../../src/nn/parameters.js';
import { Tape } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import { checkGradient, expectClose } from '../../fixtures/gradient-check.js';

const config: LlamaConfig = {
  ...{ vocabSize: 23, contextLength: 64, dim: 16, layers: 2, heads: 4, kvHeads: 2, hiddenDim: 20 },
  ...{ ropeTheta: 100, normEps: 1e-5 },
};

const rng = new Rng(5);
const drawn = (length: number, parent: number): Segment => ({
  ids: Int32Array.from({ length }, () => rng.integer(config.vocabSize)),
  parent,
});
/** A head, two states, branches of each, a second root, and a segment of the second level that comes late. */
const segments = [
  ...[drawn(7, -1), drawn(4, 0), drawn(5, 0), drawn(2, 1), drawn(3, 1), drawn(1, 1), drawn(2, 2), drawn(6, -1)],
  ...[drawn(2, 2), drawn(9, 0), drawn(1, 9)],
];

const executor: Executor = new SimdExecutor();

/** Normed states, [tokens, dim]. */
async function statesOf(forest: Forest, sizes = config, rows?: Int32Array): Promise<Float32Array> {
  const tape = new Tape(llamaParameters(executor, sizes, startingWeights(sizes, 3)), false);
  const weights = trainedWeights(tape);
  const x = layers(tape, sizes, weights, forest, embed(tape, weights, forest), 0, sizes.layers, rows && { rows });
  return tape.outputs([lastNorm(tape, sizes, weights, x)]).read();
}

describe('a forest of tokens', () => {
  test('has the states of its sequences, computed one by one', async () => {
    const forest = forestOf(segments);
    const states = await statesOf(forest);
    for (const [s, { ids }] of segments.entries()) {
      const line = [s];
      while (segments[line[0]!]!.parent >= 0) line.unshift(segments[line[0]!]!.parent);
      const whole = Int32Array.from(line.flatMap((one) => [...segments[one]!.ids]));
      const alone = await statesOf(equalSequences(whole, whole.length));
      const [begin, end] = [forest.offsets[s]!, forest.offsets[s + 1]!];
      expect(forest.positions.slice(begin, end)).toEqual(ids.map((_, i) => whole.length - ids.length + i));
      expectClose(states.slice(begin * config.dim, end * config.dim), alone.slice(-ids.length * config.dim), 1e-5);
    }
  });

  test('shares keys among siblings that are shorter than what stands before them', () => {
    const { groups } = forestOf(segments);
    expect(groups.map(({ before, own }) => [before.length, own.length])).toEqual([
      ...[[0, 7], [0, 6], [7, 4], [7, 5], [7, 9], [11, 6], [12, 4], [16, 1]], // prettier-ignore
    ]);
  });

  test('may have a segment without tokens', async () => {
    const [head, state] = [segments[0]!, segments[1]!];
    const through = forestOf([head, { ids: new Int32Array(0), parent: 0 }, { ...state, parent: 1 }]);
    expect(await statesOf(through)).toEqual(await statesOf(forestOf([head, state])));
  });

  test('gives chosen rows alone where the last layer computes no others', async () => {
    const forest = forestOf(segments);
    const rows = Int32Array.of(40, 3, 12);
    const states = await statesOf(forest);
    const chosen = rows.reduce<number[]>((all, row) => [...all, ...states.slice(row * 16, (row + 1) * 16)], []);
    expect([...(await statesOf(forest, config, rows))]).toEqual(chosen);
  });

  test('refuses a parent that comes later', () => {
    expect(() => forestOf([{ ids: Int32Array.of(1), parent: 0 }])).toThrow(/expected a parent before segment 0, got 0/);
  });
});

describe('gradients over a forest are those that finite differences measure', () => {
  const forest = forestOf(segments.slice(0, 6));
  const targets = Int32Array.of(3, 12, 17, 19, 21);
  const frozen = new Tape(llamaParameters(executor, config, startingWeights(config, 3)), false);
  const below = { find: (name: string) => (frozen.has(name) ? frozen.fixed(frozen.parameter(name)) : undefined) };

  test.each([
    ['low-rank matrices of every layer', { from: 0 }],
    ['low-rank matrices of keys in the last layer', { from: 1, matrices: ['attn_k'] as const }],
  ])('%s', async (_, some) => {
    const lora = { rank: 3, alpha: 6, ...some };
    const start = loraStart(config, lora, 1);
    // Zeros would hide the gradient by A.
    for (const { data } of Object.values(start)) data.forEach((value, i) => (data[i] = value || rng.normal() / 4));
    const parameters = new Parameters(executor, start);
    expect(parameters.names).toHaveLength(lora.from === 0 ? 2 * 2 * 6 : 2);
    const tape = new Tape(parameters);
    const weights = trainedWeights(tape, below, lora.alpha / lora.rank);
    await checkGradient(parameters, () => {
      tape.begin();
      const x = layers(tape, config, weights, forest, embed(tape, weights, forest));
      return tape.outputs([logitsOf(tape, weights, tape.rows(lastNorm(tape, config, weights, x), targets))]);
    });
  });

  test('every weight of the last layer, biases included', async () => {
    const sizes = { ...config, biased: true, halves: true, ropeFactors: Float32Array.of(1, 3) };
    const all = llamaParameters(executor, sizes, startingWeights(sizes, 3));
    const whole = await all.export();
    const upper = Object.entries(whole).filter(([name]) => name.startsWith('blk.1.'));
    const parameters = new Parameters(executor, Object.fromEntries(upper));
    expect(parameters.names).toHaveLength(12);
    const lower = trainedWeights(new Tape(all, false));
    const tape = new Tape(parameters);
    const weights = trainedWeights(tape, lower);
    await checkGradient(parameters, () => {
      tape.begin();
      const x = layers(tape, sizes, lower, forest, embed(tape, lower, forest), 0, 1);
      const states = lastNorm(tape, sizes, weights, layers(tape, sizes, weights, forest, tape.fixed(x), 1));
      return tape.outputs([tape.rows(states, targets)]);
    });
  });
});
