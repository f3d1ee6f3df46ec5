import { expect, test } from '@jest/globals';
import { createVectorWalker } from '../../../agents/vector-walker/vector-walker.js';
import { LinkQueryBatch, linkQueryWorld } from '../../../envs/index.js';
import { Graph } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { ppo } from '../../../trainers/ppo.js';
import { adamOf } from '../../../trainers/ppo-phase.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';

/** A ring of 6 with two relations: `a` goes one on, `b` two; (x, b, ?) is two steps of `a` where the own edge is hidden. */
function ring() {
  const entities = Array.from({ length: 6 }, (_, i) => `e${i}`);
  const heads = Int32Array.from({ length: 12 }, (_, i) => i % 6);
  const relations = Int32Array.from({ length: 12 }, (_, i) => Number(i >= 6));
  const tails = Int32Array.from({ length: 12 }, (_, i) => ((i % 6) + (i < 6 ? 1 : 2)) % 6);
  const graph = new Graph('ring', entities, ['a', 'b'], { heads, relations, tails });
  const ofB = (column: Int32Array) => column.subarray(6);
  const rng = Rng.named(0, 'test/ring');
  const table = (rows: number) => Float32Array.from({ length: rows * 8 }, () => rng.normal());
  const vectors = { dim: 8, entities: table(6), relations: table(2) };
  return { graph, queries: { heads: ofB(heads), relations: ofB(relations), tails: ofB(tails) }, vectors };
}

/** What a round of PPO is changed in, and the walker. */
interface Changes {
  hidden?: number[];
  tf?: Tf;
  settings?: Record<string, number>;
}

async function rewards(seed: number, { hidden = [32, 32], tf, settings: changed }: Changes = {}) {
  const options = { ...ring(), horizon: 2 };
  const world = linkQueryWorld(options);
  const { actor, critic } = createVectorWalker({
    ...{ vectors: options.vectors, maxActions: world.maxActions, hidden, seed, ...(tf && { tf }) },
  });
  const settings = ppoSettings.parse({
    ...{ init: 'scratch', klCoef: 0, baseline: 'critic', samplesPerUpdate: 6, minibatchSamples: 3, explorations: 8 },
    ...{ updates: 60, learningRate: 5e-3, lrDecay: 'none', warmupUpdates: 0 },
    ...changed,
  });
  const made: { rewards: number[]; ratio: number[] } = { rewards: [], ratio: [] };
  await ppo({
    ...{ actor, settings, seed, optimizer: adamOf(actor.parameters, settings) },
    critic: { network: critic, optimizer: adamOf(critic.parameters, settings) },
    envs: new LinkQueryBatch(world, 48),
    walkable: Int32Array.from(world.queries.heads.keys()),
    onUpdate: ({ metrics }) => {
      made.rewards.push(metrics['rollout/reward']!);
      made.ratio.push(metrics['train/first_ratio_deviation']!);
    },
  });
  return { ...made, weights: (await actor.parameters.export())['0']!.data };
}

test('PPO teaches a vector walker on the host to go round the edge that it is asked for', async () => {
  const { rewards: earned, ratio } = await rewards(1);
  const mean = (part: number[]) => part.reduce((sum, reward) => sum + reward, 0) / part.length;
  expect(mean(earned.slice(0, 3))).toBeLessThan(0.5);
  expect(mean(earned.slice(-10))).toBeGreaterThan(0.9);
  expect(Math.max(...ratio)).toBeLessThan(1e-6);
});

test('equal seeds give equal weights', async () => {
  const [one, two] = [await rewards(2), await rewards(2)];
  expect(two.weights).toEqual(one.weights);
  expect(two.rewards).toEqual(one.rewards);
});

test.each(['cpu', 'wasm'] as const)(
  'an update with large products by %s is that of the host but for rounding',
  async (name) => {
    const { tf } = await openBackend(name);
    let calls = 0;
    const counted: Tf = { ...tf, matMul: ((...args) => (calls++, tf.matMul(...args))) as Tf['matMul'] };
    const round = { hidden: [512, 512], settings: { updates: 1, minibatchSamples: 6, learningRate: 1e-4 } };
    const [host, both] = [await rewards(3, round), await rewards(3, { ...round, tf: counted })];
    expect(calls).toBeGreaterThan(0);
    expect(both.rewards).toEqual(host.rewards);
    const differences = host.weights.map((weight, i) => Math.abs(weight - both.weights[i]!));
    expect(differences.reduce((a, b) => Math.max(a, b))).toBeLessThan(1e-5);
  },
);
