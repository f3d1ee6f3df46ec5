import { describe, expect, test } from '@jest/globals';
import { createStateRows, type WalkerHead } from '../../../agents/dialogue-walker/heads/head.js';
import { createCritic } from '../../../agents/dialogue-walker/critic.js';
import { createWalkerHead } from '../../../agents/dialogue-walker/heads/registry.js';
import { frozenTables } from '../../../agents/dialogue-walker/vectors.js';
import { actionLogProbs } from '../../../trainers/actor.js';
import type { WalkerSettings } from '../../../agents/dialogue-walker/settings.js';
import { walkerActor } from '../../../agents/dialogue-walker/policy.js';
import { roundedToBfloat16 } from '../../../src/nn/bfloat16.js';
import { segmentLogSoftmax } from '../../../src/nn/categorical.js';
import type { HostTensor, Parameters } from '../../../src/nn/parameters.js';
import { openHere } from '../../fixtures/executors.js';
import { expectClose, gradientsOf } from '../../fixtures/gradient-check.js';
import { randomize, reachableStates, tinySettings, toyFeaturizer, toyShape } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const world = toyTwoHop();
const { graph } = world;
const states = reachableStates(world);
const featurizer = await toyFeaturizer(world, { edgeFeatures: false });
const batch = featurizer.batch(states);
const settingsOf = (changes: Partial<WalkerSettings> = {}) =>
  tinySettings({ head: 'pa-mlp', precision: 'bf16', ...changes });

const round = (value: number) => roundedToBfloat16(Float32Array.of(value))[0]!;

/** input · W + b in bfloat16: read and given in it, summed in more. */
function layer(input: readonly number[], { shape, data }: HostTensor, bias?: HostTensor): number[] {
  const columns = shape[1]!;
  return Array.from({ length: columns }, (_, c) =>
    round(input.reduce((sum, value, r) => sum + value * round(data[r * columns + c]!), round(bias?.data[c] ?? 0))),
  );
}

const tanh = (values: number[]) => values.map((value) => round(Math.tanh(value)));

const tables = await frozenTables(graph, featurizer.parts.vectors, undefined, tinySettings());

describe.each(await openHere())('bf16 on %s', (_, executor) => {
  const shape = () => toyShape(graph, featurizer, tables);

  async function withHead(changes: Partial<WalkerSettings>, body: (head: WalkerHead) => Promise<void>) {
    const head = createWalkerHead(executor, settingsOf(changes), shape(), 1);
    await randomize(head.parameters, 2);
    await body(head);
    head.dispose();
  }

  test('rounds states, weights, edge vectors, activations and logits of the plain head', async () => {
    await withHead({}, async (head) => {
      const logits = await head.logits(batch).read();
      const weights = await head.parameters.export();
      const rows = createStateRows(settingsOf(), shape(), true);
      const all = rows.of(batch);
      const outputs = states.map((_, s) => {
        const first = tanh(layer([...all.subarray(s * rows.dim, (s + 1) * rows.dim)], weights['pa.1']!));
        return layer(tanh(layer(first, weights['pa.2']!)), weights['pa.out']!);
      });
      const { entities, entityDim, relations, relationDim } = tables;
      const expected = Array.from(batch.stateOf, (state, i) => {
        const row = (table: Float32Array, at: number, dim: number) => [...table.subarray(at * dim, (at + 1) * dim)];
        const stays = batch.relations[i]! >= graph.numRelations;
        const relation = stays
          ? new Array<number>(relationDim).fill(0)
          : row(relations, batch.relations[i]!, relationDim);
        const edge = [...relation, ...row(entities, batch.tails[i]!, entityDim)];
        return round(edge.reduce((sum, value, k) => sum + round(value) * outputs[state]![k]!, 0));
      });
      // Float32 sums in another order than these may end at the next number of 8 bits, at a few places.
      const same = expected.filter((value, i) => value === logits[i]).length;
      expect(same).toBeGreaterThan(0.95 * logits.length);
      expectClose(logits, expected, 0.05);
      expect(roundedToBfloat16(logits)).toEqual(logits);
      expect(head.precision).toBe('bf16');
    });
  });

  test('ranks by what it trains, to the bit', async () => {
    await withHead({}, async (head) => {
      expect(head.rank).toBeUndefined();
      expect(await head.infer(batch)).toEqual(await head.logits(batch).read());
      const policy = { head, featurizer };
      const { offsets, logits } = walkerActor(policy).score(states);
      const scored = segmentLogSoftmax(await logits().read(), offsets);
      for (const forRanking of [false, true]) {
        expect((await actionLogProbs(walkerActor(policy, forRanking), states)).logProbs).toEqual(scored);
      }
    });
  });

  test('B-ARK-13: log-probabilities are float32', async () => {
    await withHead({}, async (head) => {
      const { logProbs, offsets } = await actionLogProbs(walkerActor({ head, featurizer }), states);
      expect(roundedToBfloat16(logProbs)).not.toEqual(logProbs);
      for (let s = 0; s < states.length; s++) {
        const own = logProbs.subarray(offsets[s], offsets[s + 1]);
        expect(own.reduce((sum, value) => sum + Math.exp(value), 0)).toBeCloseTo(1, 6);
      }
    });
  });

  test.each(['standard', 'plain'] as const)('rounds all that the %s critic reads and gives', async (critic) => {
    const network = createCritic(executor, settingsOf({ critic }), shape(), 1);
    await randomize(network.parameters, 4);
    const weights = await network.parameters.export();
    const values = await network.values(batch).read();
    expect(roundedToBfloat16(values)).toEqual(values);
    const rows = createStateRows(settingsOf(), shape(), critic === 'plain');
    const all = rows.of(batch);
    const expected = states.map((_, s) => {
      const through = (input: number[], name: string) => layer(input, weights[name]!, weights[`${name}.bias`]);
      const first = tanh(through([...all.subarray(s * rows.dim, (s + 1) * rows.dim)], 'critic.1'));
      return through(tanh(through(first, 'critic.2')), 'critic.out')[0]!;
    });
    expect(expected.filter((value, s) => value === values[s]).length).toBeGreaterThan(0.9 * states.length);
    expectClose(values, expected, 0.05);
    network.dispose();
  });

  test('moves weights by the gradient at the rounded numbers, which small changes reach', async () => {
    const gradientOf = async (parameters: Parameters, outputs: () => ReturnType<WalkerHead['logits']>) => {
      const grad = (values: Float32Array) => values.map((_, i) => Math.cos(i));
      return Object.values(await gradientsOf({ outputs, grad }, parameters)).flatMap(({ data }) => [...data]);
    };
    const gradients: number[][] = [];
    for (const precision of ['f32', 'bf16'] as const) {
      await withHead({ precision }, async (head) => {
        gradients.push(await gradientOf(head.parameters, () => head.logits(batch)));
      });
    }
    const [exact, rounded] = gradients as [number[], number[]];
    const length = (values: number[]) => Math.hypot(...values);
    const apart = length(exact.map((value, i) => value - rounded[i]!)) / length(exact);
    expect(apart).toBeLessThan(0.02);
    expect(apart).toBeGreaterThan(1e-4);
  });
});
