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

function withCritic(body: (critic: Critic, valuesOf: (requests: typeof states) => Float32Array) => void): void {
  const tables = frozenTables(tf, world.graph, featurizer.parts.vectors, undefined, tinySettings());
  const critic = createCritic(tf, tables, featurizer.contextDim, 6, 1);
  randomize(critic.parameters, 4);
  body(critic, (requests) => readTensor(tf, () => critic.values(featurizer.batch(requests))));
  critic.dispose();
}

describe('the critic', () => {
  test('values a state by itself, whatever stands beside it', () => {
    withCritic((_, valuesOf) => {
      const together = valuesOf(states);
      expect(together).toHaveLength(states.length);
      expect(new Set(together).size).toBeGreaterThan(states.length / 2);
      states.forEach((state, s) => expectClose(valuesOf([state]), [together[s]!]));
    });
  });

  test('has the gradients that its values have as slopes', () => {
    withCritic((critic) => {
      const batch = featurizer.batch(states.slice(0, 6));
      checkGradient(tf, critic.parameters, () => critic.values(batch));
    });
  });

  test('reads no actions', () => {
    withCritic((_, valuesOf) => {
      const none = states.map((state) => ({ ...state, actions: new Int32Array(0) }));
      expect(valuesOf(none)).toEqual(valuesOf(states));
    });
  });

  test('leaves no tensor behind', () => {
    const before = tf.memory().numTensors;
    withCritic((_, valuesOf) => {
      valuesOf(states);
      const held = tf.memory().numTensors;
      valuesOf(states);
      expect(tf.memory().numTensors).toBe(held);
    });
    expect(tf.memory().numTensors).toBe(before);
  });
});
