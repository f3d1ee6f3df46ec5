import { beforeAll, describe, expect, test } from '@jest/globals';
import { createCritic, type Critic } from '../../../agents/walker/critic.js';
import { frozenTables } from '../../../agents/walker/frozen-tables.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { readTensor } from '../../../src/tensor/ops.js';
import { checkGradient, expectClose } from '../../fixtures/gradient-check.js';
import { randomize, reachableStates, tinySettings, toyFeaturizer } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const world = toyTwoHop();
const states = reachableStates(world);
const featurizer = await toyFeaturizer(world);

let tf: Tf;
beforeAll(async () => {
  ({ tf } = await openBackend('wasm'));
});

type ValuesOf = (requests: typeof states) => Promise<Float32Array>;

async function withCritic(body: (critic: Critic, valuesOf: ValuesOf) => Promise<void>): Promise<void> {
  const tables = await frozenTables(tf, world.graph, featurizer.parts.vectors, undefined, tinySettings());
  const shape = { contextDim: featurizer.contextDim, horizon: 2, tables };
  const critic = createCritic(tf, tinySettings(), shape, 1);
  await randomize(critic.parameters, 4);
  await body(critic, (requests) => readTensor(tf, () => critic.values(featurizer.batch(requests))));
  critic.dispose();
}

describe('the critic', () => {
  test('values a state by itself, whatever stands beside it', async () => {
    await withCritic(async (_, valuesOf) => {
      const together = await valuesOf(states);
      expect(together).toHaveLength(states.length);
      expect(new Set(together).size).toBeGreaterThan(states.length / 2);
      for (const [s, state] of states.entries()) expectClose(await valuesOf([state]), [together[s]!]);
    });
  });

  test('has the gradients that its values have as slopes', async () => {
    await withCritic(async (critic) => {
      const batch = featurizer.batch(states.slice(0, 6));
      await checkGradient(tf, critic.parameters, () => critic.values(batch));
    });
  });

  test('reads no actions', async () => {
    await withCritic(async (_, valuesOf) => {
      const none = states.map((state) => ({ ...state, actions: new Int32Array(0) }));
      expect(await valuesOf(none)).toEqual(await valuesOf(states));
    });
  });

  test('leaves no tensor behind', async () => {
    const before = tf.memory().numTensors;
    await withCritic(async (_, valuesOf) => {
      await valuesOf(states);
      const held = tf.memory().numTensors;
      await valuesOf(states);
      expect(tf.memory().numTensors).toBe(held);
    });
    expect(tf.memory().numTensors).toBe(before);
  });
});
