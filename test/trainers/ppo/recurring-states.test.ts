import { expect, test } from '@jest/globals';
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Actor } from '../../../agents/actor.js';
import { Grid } from '../../../envs/index.js';
import { VectorEnv } from '../../../envs/vector-env.js';
import { Rng } from '../../../src/run/seeds.js';
import { adamWOf } from '../../../src/tensor/adamw.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { gatherRows } from '../../../src/tensor/ops.js';
import { ParameterSet } from '../../../src/tensor/parameters.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { ppo } from '../../../trainers/ppo.js';
import { actionDraw, collectRollouts, RolloutBuffer, wholeWalks } from '../../../trainers/rollout.js';

/** Cells of a room of 5 × 5. */
const cells = 25;

type Cell = { task: { id: string }; cell: number };

/** Scores of four moves for every cell; a state is its cell, independent of the path. */
function cellActor(tf: Tf): Actor<Float32Array, Cell> {
  const parameters = new ParameterSet(tf);
  const starts = Float32Array.from({ length: cells * 4 }, (_, i) => Math.sin(i) / 4);
  parameters.add('scores', [cells, 4], starts);
  return {
    parameters,
    requestOf: (observation) => ({ task: { id: 'grid' }, cell: observation.indexOf(1) }),
    stateKey: (observation) => String(observation.indexOf(1)),
    numScores: () => 4,
    score: (requests) => ({
      offsets: Int32Array.from({ length: requests.length + 1 }, (_, i) => 4 * i),
      logits() {
        const table = parameters.get('scores') as unknown as tfTypes.Tensor2D;
        const index = Int32Array.from(requests, ({ cell }) => cell);
        return tf.reshape(gatherRows(tf, table, index), [-1]) as tfTypes.Tensor1D;
      },
    }),
    weightsChanged() {},
    dispose: () => parameters.dispose(),
  };
}

const grids = (count: number) => new VectorEnv(Array.from({ length: count }, () => new Grid({ maxSteps: 40 })));

test('a state that comes back in a later step of a walk is stored once, and its actions keep their probabilities', async () => {
  const { tf } = await openBackend('cpu');
  const actor = cellActor(tf);
  const buffer = new RolloutBuffer<Cell>(20 * 40);
  await collectRollouts(actor, undefined, grids(20), buffer, [0], 20, actionDraw(new Rng(5)));
  expect(new Set(buffer.states.map(({ cell }) => cell)).size).toBe(buffer.states.length);
  expect(buffer.length).toBeGreaterThan(4 * buffer.states.length);
  const scores = (await actor.parameters.export()).scores!.data as Float32Array;
  const [batch] = [...buffer.minibatches(1, new Rng(0))];
  const { states, transitions } = batch!;
  const expected = Float32Array.from(transitions.state, (state, i) => {
    const { cell } = buffer.states[states[state]!]!;
    const own = [...scores.subarray(4 * cell, 4 * cell + 4)].map(Math.exp);
    return Math.log(own[transitions.action[i]!]! / own.reduce((a, b) => a + b));
  });
  transitions.oldLogProb.forEach((logProb, i) => expect(logProb).toBeCloseTo(expected[i]!, 5));
  actor.dispose();
});

test('PPO over cells finds the shortest walk through the room', async () => {
  const { tf } = await openBackend('cpu');
  const actor = cellActor(tf);
  const optimizer = adamWOf(actor.parameters);
  const settings = ppoSettings.parse({
    ...{ init: 'scratch', updates: 60, samplesPerUpdate: 1, explorations: 32, updateEpochs: 4, klCoef: 0 },
    ...{ learningRate: 0.1, warmupUpdates: 0, lrDecay: 'none', entropyCoef: 0.001, gamma: 0.95 },
  });
  const rewards: number[] = [];
  await ppo({
    ...{ actor, optimizer, collect: wholeWalks(grids(32), Int32Array.of(0)), settings, seed: 2 },
    onUpdate: ({ metrics }) => void rewards.push(metrics['rollout/reward']!),
  });
  optimizer.dispose();
  actor.dispose();
  expect(rewards[0]).toBeLessThan(0.2);
  expect(Math.max(...rewards.slice(-10))).toBeGreaterThan(0.86 - 0.05);
});
