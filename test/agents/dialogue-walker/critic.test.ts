import { describe, expect, test } from '@jest/globals';
import { createCritic, type Critic } from '../../../agents/dialogue-walker/critic.js';
import { createStateRows } from '../../../agents/dialogue-walker/heads/head.js';
import { frozenTables } from '../../../agents/dialogue-walker/vectors.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { checkGradient, expectClose } from '../../fixtures/gradient-check.js';
import { randomize, reachableStates, tinySettings, toyFeaturizer } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const world = toyTwoHop();
const states = reachableStates(world);
const featurizer = await toyFeaturizer(world);

const executor = new SimdExecutor();

type ValuesOf = (requests: typeof states) => Promise<Float32Array>;

type Settings = Parameters<typeof tinySettings>[0];

async function withCritic(
  body: (critic: Critic, valuesOf: ValuesOf) => Promise<void>,
  settings: Settings = {},
): Promise<void> {
  const tables = await frozenTables(world.graph, featurizer.parts.vectors, undefined, tinySettings());
  const { contextDim, numScalars } = featurizer;
  const shape = { contextDim, numScalars, horizon: 2, tables };
  const critic = createCritic(executor, tinySettings(settings), shape, 1);
  await randomize(critic.parameters, 4);
  await body(critic, (requests) => critic.values(featurizer.batch(requests)).read());
  critic.dispose();
}

const plain = { head: 'pa-mlp', critic: 'plain', placeVectors: false, stepEncoding: 'additive-sin' } as const;

/** Text and step alone do not distinguish places. */
const distinctStates = ({ placeVectors = true }: NonNullable<Settings>) =>
  placeVectors ? states.length : new Set(states.map(({ task, state }) => `${task.id} ${state.hop}`)).size;

describe.each([
  ['standard', {}],
  ['plain', plain],
] as const)('the %s critic', (_kind, settings) => {
  test('values a state independently of the batch, reads no actions and takes no more memory', async () => {
    await withCritic(async (_, valuesOf) => {
      const together = await valuesOf(states);
      const held = executor.arena.memory.buffer.byteLength;
      expect(together).toHaveLength(states.length);
      expect(new Set(together).size).toBeGreaterThan(distinctStates(settings) / 2);
      for (let s = 0; s < states.length; s += 7) expectClose(await valuesOf([states[s]!]), [together[s]!]);
      const none = states.map((state) => ({ ...state, actions: new Int32Array(0) }));
      expect(await valuesOf(none)).toEqual(together);
      expect(executor.arena.memory.buffer.byteLength).toBe(held);
    }, settings);
  });

  test('has the gradients that its values have as gradients', async () => {
    await withCritic(async (critic) => {
      const batch = featurizer.batch(states.slice(0, 6));
      await checkGradient(critic.parameters, () => critic.values(batch));
    }, settings);
  });
});

describe('the plain critic of LLM-ARK', () => {
  const shapeOf = async (settings: Settings) => ({
    contextDim: featurizer.contextDim,
    numScalars: featurizer.numScalars,
    horizon: 2,
    tables: await frozenTables(world.graph, featurizer.parts.vectors, undefined, tinySettings(settings)),
  });

  test('has three layers without biases that start orthogonal, with gains 1, 1 and 0.01', async () => {
    const { parameters, dispose } = createCritic(executor, tinySettings(plain), await shapeOf(plain), 1);
    const weights = await parameters.export();
    expect(Object.entries(weights).map(([name, { shape }]) => [name, ...shape])).toEqual([
      ['critic.1', 32, 6],
      ['critic.2', 6, 6],
      ['critic.out', 6, 1],
    ]);
    for (const [name, gain] of [
      ['critic.1', 1],
      ['critic.2', 1],
      ['critic.out', 0.01],
    ] as const) {
      const {
        shape: [rows, columns],
        data,
      } = weights[name]!;
      for (let a = 0; a < columns!; a++) {
        for (let b = 0; b <= a; b++) {
          let dot = 0;
          for (let r = 0; r < rows!; r++) dot += data[r * columns! + a]! * data[r * columns! + b]!;
          expect(dot / gain ** 2).toBeCloseTo(a === b ? 1 : 0, 5);
        }
      }
    }
    dispose();
  });

  test('values a state by w · tanh(W2 · tanh(W1 · s)), and reads what the plain head reads', async () => {
    for (const placeVectors of [true, false]) {
      const settings = tinySettings({ ...plain, placeVectors });
      const shape = await shapeOf(settings);
      const critic = createCritic(executor, settings, shape, 1);
      await randomize(critic.parameters, 4);
      const batch = featurizer.batch(states);
      const values = await critic.values(batch).read();
      const actorRows = createStateRows(settings, shape, true);
      const rows = actorRows.of(batch);
      const weights = await critic.parameters.export();
      const times = (input: number[], name: string) => {
        const { shape: sizes, data } = weights[name]!;
        return Array.from({ length: sizes[1]! }, (_, c) =>
          input.reduce((sum, value, r) => sum + value * data[r * sizes[1]! + c]!, 0),
        );
      };
      states.forEach((_, s) => {
        const state = [...rows.subarray(s * actorRows.dim, (s + 1) * actorRows.dim)];
        const first = times(state, 'critic.1').map(Math.tanh);
        const second = times(first, 'critic.2').map(Math.tanh);
        expect(values[s]).toBeCloseTo(times(second, 'critic.out')[0]!, 5);
      });
      critic.dispose();
    }
  });
});
