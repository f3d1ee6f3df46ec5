import { describe, expect, test } from '@jest/globals';
import { createWalkerHead } from '../../../agents/walker/heads/registry.js';
import type { StateBatch } from '../../../agents/walker/heads/head.js';
import { createHostCandidateHead } from '../../../agents/walker/heads/host-candidate.js';
import { frozenTables } from '../../../agents/walker/vectors.js';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend } from '../../../src/tensor/backend.js';
import { AdamW, adamWOf } from '../../../src/tensor/adamw.js';
import type { Optimizer, Outputs } from '../../../src/tensor/trainable.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { randomize, reachableStates, tinySettings, toyFeaturizer, toyShape } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const world = toyTwoHop();
const { graph } = world;
const states = reachableStates(world);
const featurizers = {
  'edge features': await toyFeaturizer(world),
  'no edge features': await toyFeaturizer(world, { edgeFeatures: false }),
};

const { tf } = await openBackend('wasm');
const { vectors } = featurizers['edge features'].parts;
const tables = await frozenTables(tf, graph, vectors, undefined, tinySettings());

describe.each(Object.keys(featurizers) as (keyof typeof featurizers)[])(
  'the candidate head on the host, with %s',
  (which) => {
    const featurizer = featurizers[which];
    /** Both by the same random weights; widths that are no multiples of what a vector of the processor holds. */
    async function heads({
      dropout = 0,
      ...sizes
    }: { dropout?: number; width?: number; hidden?: number; embeddingDim?: number } = {}) {
      const settings = tinySettings({ head: 'candidate', dropout, width: 9, hidden: 6, embeddingDim: 7, ...sizes });
      const shape = toyShape(graph, featurizer, tables);
      const tensors = createWalkerHead(tf, settings, shape, 1);
      const host = createHostCandidateHead(settings, shape, 1);
      const starts = [await tensors.parameters.export(), await host.parameters.export()];
      await randomize(tensors.parameters, 2);
      host.parameters.import(await tensors.parameters.export());
      const close = () => {
        tensors.dispose();
        host.dispose();
      };
      return { tensors, host, starts, close };
    }

    /** Gradients by name, as the first moments of a step hold a share of them. */
    async function gradientsOf(optimizer: Optimizer, outputs: () => Outputs, grad: Float32Array) {
      await optimizer.step(async (record) => {
        const { back } = await record(outputs);
        back(grad);
      }, 0.1);
      return (await optimizer.exportState('')).tensors;
    }
    const gradFor = (batch: StateBatch) => {
      const rng = Rng.named(5, 'test/slope');
      return Float32Array.from(batch.tails, () => rng.normal());
    };

    test('starts with the bytes of the tensors’ head, by the same names', async () => {
      const { starts, close } = await heads();
      expect(starts[1]).toEqual(starts[0]);
      close();
    });

    test.each([0, 0.4])('gives the scores and gradients of the tensors’ head, with dropout of %f', async (dropout) => {
      const { tensors, host, close } = await heads({ dropout });
      // More edges than a gradient sums at once.
      const batch = featurizer.batch(Array.from({ length: 40 }, () => states).flat());
      expect(batch.tails.length).toBeGreaterThan(1100);
      const rng = () => (dropout > 0 ? Rng.named(3, 'test/dropout') : undefined);
      expectClose(
        await host.parameters.read(() => host.logits(batch, rng())),
        await tensors.parameters.read(() => tensors.logits(batch, rng())),
      );
      const grad = gradFor(batch);
      const [ours, theirs] = await Promise.all([
        gradientsOf(adamWOf(host.parameters), () => host.logits(batch, rng()), grad),
        gradientsOf(new AdamW(tensors.parameters), () => tensors.logits(batch, rng()), grad),
      ]);
      expect(Object.keys(ours).sort()).toEqual(Object.keys(theirs).sort());
      for (const [name, { data }] of Object.entries(theirs)) {
        const largest = data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        expect(largest).toBeGreaterThan(0);
        const difference = data.reduce((most, value, i) => Math.max(most, Math.abs(value - ours[name]!.data[i]!)), 0);
        expect({ name, share: difference / largest < 2e-4 }).toEqual({ name, share: true });
      }
      close();
    });

    test('ranks a state by the same bytes in any batch, as it scores it', async () => {
      const { tensors, host, close } = await heads();
      const batch = featurizer.batch(states);
      const scores = await host.infer(batch);
      expectClose(scores, await tensors.infer(batch));
      expectClose(scores, host.logits(batch).values.slice());
      for (const [s, state] of states.entries()) {
        expect(await host.rank!(featurizer.batch([state]))).toEqual(
          scores.slice(batch.offsets[s], batch.offsets[s + 1]),
        );
      }
      await randomize(tensors.parameters, 9);
      host.parameters.import(await tensors.parameters.export());
      host.weightsChanged();
      tensors.weightsChanged();
      expectClose(await host.infer(batch), await tensors.infer(batch));
      close();
    });
  },
);
