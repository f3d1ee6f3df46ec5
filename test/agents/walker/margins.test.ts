import { beforeAll, describe, expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { HeadShape, WalkerHead } from '../../../agents/walker/heads/head.js';
import { marginLoss } from '../../../agents/walker/heads/network.js';
import { createWalkerHead, headsByMargins } from '../../../agents/walker/heads/registry.js';
import { frozenTables } from '../../../agents/walker/vectors.js';
import { type WalkerSettings, walkerSettings } from '../../../agents/walker/settings.js';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { readTensor } from '../../../src/tensor/ops.js';
import { checkGradient, expectClose } from '../../fixtures/gradient-check.js';
import { randomize, reachableStates, tinySettings, toyFeaturizer, toyShape } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const world = toyTwoHop();
const { graph } = world;
const featurizer = await toyFeaturizer(world, { edgeFeatures: false });
const states = reachableStates(world);
const batch = featurizer.batch(states);
/** The last action of each state. */
const golds = Int32Array.from(states, (_, s) => batch.offsets[s + 1]! - 1);

let tf: Tf;
let shape: HeadShape;
beforeAll(async () => {
  ({ tf } = await openBackend('wasm'));
  const tables = await frozenTables(tf, graph, featurizer.parts.vectors, undefined, tinySettings());
  shape = toyShape(graph, featurizer, tables);
});

async function headOf(changes: Partial<WalkerSettings>): Promise<WalkerHead> {
  const head = createWalkerHead(tf, tinySettings(changes), shape, 1);
  await randomize(head.parameters, 2);
  return head;
}

test('the loss by margins is what loops over the drawn make it', async () => {
  const rng = Rng.named(1, 'test/margins');
  const [d, rows, numStates] = [3, 7, 2];
  const values = (count: number) => Float32Array.from({ length: count }, () => rng.normal());
  const [x, table] = [values(numStates * d), values(rows * d)];
  const aimed = Int32Array.of(4, 6);
  const others = Int32Array.from({ length: 20 * numStates }, () => rng.integer(rows));
  const made = await readTensor(tf, () =>
    marginLoss(tf, tf.tensor2d(x, [numStates, d]), tf.tensor2d(table, [rows, d]), aimed, others),
  );
  const dot = (a: Float32Array, i: number, b: Float32Array, j: number) =>
    [0, 1, 2].reduce((sum, k) => sum + a[i * d + k]! * b[j * d + k]!, 0);
  const expected = Array.from(aimed, (y, s) =>
    Array.from(others.subarray(20 * s, 20 * (s + 1))).reduce(
      (sum, other) => sum + Math.max(0, dot(table, other, table, y) + dot(x, s, table, other) - dot(x, s, table, y)),
      0,
    ),
  );
  expectClose(made, expected, 1e-4);
});

describe.each([
  ['seq2seq', { head: 'seq2seq' }],
  ['dialkg-walker', { head: 'dialkg-walker' }],
  ['dialkg-walker without zero-shot scores', { head: 'dialkg-walker', zeroShot: 0 }],
] as const)('the %s head by margins', (_, changes) => {
  test('has a loss for each state, by its draws alone', async () => {
    const head = await headOf(changes);
    const losses = (seed: number) =>
      readTensor(tf, () => head.marginLosses!(batch, golds, Rng.named(seed, 'test/negatives')));
    const one = await losses(1);
    expect(one).toHaveLength(states.length);
    expect(Math.min(...one)).toBeGreaterThanOrEqual(0);
    expect(await losses(1)).toEqual(one);
    expect(await losses(2)).not.toEqual(one);
    head.dispose();
  });

  test('has the gradients that its losses have as gradients', async () => {
    const head = await headOf(changes);
    // A mean over the draws of a few states: float32 is too coarse for gradients of larger sums.
    const few = featurizer.batch(states.slice(0, 4));
    const losses = () => head.marginLosses!(few, golds.slice(0, 4), Rng.named(1, 'test/negatives')) as tfTypes.Tensor1D;
    await checkGradient(tf, head.parameters, () => tf.mul(losses(), 1 / 20));
    head.dispose();
  });
});

test('heads that settings let train by margins are those that have such a loss', () => {
  const heads = walkerSettings.shape.head.unwrap().options;
  for (const head of heads) {
    const made = createWalkerHead(tf, tinySettings({ head }), shape, 1);
    expect([head, made.marginLosses !== undefined]).toEqual([head, headsByMargins.includes(head)]);
    made.dispose();
  }
});
