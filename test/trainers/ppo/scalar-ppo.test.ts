import { beforeAll, expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import type { TrainedParameters } from '../../../src/tensor/trainable.js';
import { adamOf } from '../../../trainers/ppo-phase.js';
import { ppo } from '../../../trainers/ppo.js';
import { wholeWalks } from '../../../trainers/rollout.js';
import { ppoSettings, type PpoSettings } from '../../../trainers/ppo-settings.js';
import { often } from '../../fixtures/long-tests.js';
import { recordedTrees, rowNumbers, tableActor, tableCritic } from '../../fixtures/random-walks.js';
import { scalarTable, scalarUpdate, type ScalarTable } from '../../fixtures/scalar-ppo.js';

let tf: Tf;
beforeAll(async () => {
  ({ tf } = await openBackend('cpu'));
});

const baselines = ['group-mean', 'critic', 'none', 'moving-average'] as const;
const normalizations = ['minibatch', 'buffer', 'none'] as const;

/** Every baseline with every normalisation in turn; what else can be switched is drawn. */
function settingsOf(seed: number): PpoSettings {
  const rng = Rng.named(seed, 'test/settings');
  const one = <T>(...choices: T[]): T => choices[rng.integer(choices.length)]!;
  const drawn = {
    ...{ updates: 2, samplesPerUpdate: 4, explorations: 3, lrDecay: 'none', warmupUpdates: 0, learningRate: 0.1 },
    baseline: baselines[seed % 4],
    normalizeAdvantage: normalizations[Math.floor(seed / 4) % 3],
    minibatchSamples: one(2, 3, 4),
    updateEpochs: one(1, 2, 3),
    // 10 clips nothing.
    clipRange: one(0.05, 0.2, 10),
    clipRangeValue: one(null, 0.05, 0.3),
    valueCoef: one(0.5, 1.3),
    entropyCoef: one(0, 0.3),
    klCoef: one(0, 0.7),
    feasibilityCoef: one(0, 0.6),
    gamma: one(1, 0.8),
    gaeLambda: one(0, 0.6, 1),
    maxGradNorm: one(0, 0.3),
    targetKl: one(null, null, 0.02),
    // Large, so that a gradient of rounding's size does not become a whole step.
    adamEpsilon: 0.01,
    baselineDecay: one(0, 0.5),
    actionDropout: one(0, 0.7),
    dualClip: one(null, 1.02, 1.5),
  };
  const reinforce = { algorithm: 'reinforce', minibatchSamples: 4, updateEpochs: 1, targetKl: null, dualClip: null };
  return ppoSettings.parse({ ...drawn, ...(rng.uniform() < 0.3 && reinforce) });
}

/** Entries that differ by more than 1e-5, relative to 1 plus the size of the number. */
const far = (what: string, actual: ArrayLike<number>, expected: readonly number[]) =>
  expected.flatMap((value, i) => {
    const error = Math.abs(actual[i]! - value) / (1 + Math.abs(value));
    return error < 1e-5 ? [] : [`${what}[${i}]: ${actual[i]}, not ${value}`];
  });

test('PPO gives the losses, gradients, moments and weights of an independent scalar version, with any switches', async () => {
  let clipped = 0;
  let reinforced = 0;
  for (let seed = 0; seed < often(54, 1000); seed++) {
    const settings = settingsOf(seed);
    const rowOf = rowNumbers();
    const actor = tableActor(tf, seed, rowOf);
    const anchor = tableActor(tf, seed + 1e6, rowOf);
    const network = settings.baseline === 'critic' ? tableCritic(tf, seed, rowOf) : undefined;
    const optimizer = adamOf(actor.parameters, settings);
    const critic = network && { network, optimizer: adamOf(network.parameters, settings) };
    const kind = { seed, ends: true, cuts: seed % 2 === 0 };
    const { envs, walks } = recordedTrees(kind, settings.samplesPerUpdate * settings.explorations, rowOf);
    const numbersOf = async (set: TrainedParameters, name: string) => (await set.export())[name]!.data;
    const learner = {
      scores: scalarTable(await numbersOf(actor.parameters, 'scores')),
      critic: network && scalarTable(await numbersOf(network.parameters, 'values')),
      anchor: [...(await numbersOf(anchor.parameters, 'scores'))],
      average: 0,
    };
    let updates = 0;
    await ppo({
      ...{ actor, optimizer, critic, anchor, settings, seed },
      collect: wholeWalks(
        envs,
        Int32Array.from({ length: 8 }, (_, i) => i),
      ),
      async onUpdate({ update, metrics }) {
        const rng = Rng.named(seed, 'ppo/shuffle', update - 1);
        const expected = scalarUpdate(walks, learner, settings, (samples) => [
          ...rng.shuffle(Int32Array.from(samples)),
        ]);
        const keys = Object.keys(expected);
        const wrong = far(
          keys.join(),
          keys.map((key) => metrics[key]!),
          Object.values(expected),
        );
        const compare = async (name: string, set: TrainedParameters, state: typeof optimizer, table: ScalarTable) => {
          const moments = (await state.exportState('')).tensors;
          const actual = {
            values: await numbersOf(set, name),
            first: moments[`first/${name}`]!.data,
            second: moments[`second/${name}`]!.data,
          };
          for (const part of ['values', 'first', 'second'] as const) {
            wrong.push(...far(`${part} of ${name}`, actual[part], table[part]));
          }
        };
        await compare('scores', actor.parameters, optimizer, learner.scores);
        if (critic) await compare('values', network.parameters, critic.optimizer, learner.critic!);
        expect({ seed, update, settings, wrong }).toEqual({ seed, update, settings, wrong: [] });
        clipped += metrics['train/clip_fraction'] ?? 0;
        if (settings.algorithm === 'reinforce') expect(metrics).not.toHaveProperty(['train/clip_fraction']);
        reinforced += Number(settings.algorithm === 'reinforce');
        updates++;
      },
    });
    expect(updates).toBe(2);
    envs.close();
    for (const { parameters } of [actor, anchor, ...(network ? [network] : [])]) parameters.dispose();
    optimizer.dispose();
    critic?.optimizer.dispose();
  }
  expect(reinforced).toBeGreaterThan(10);
  // Otherwise nothing was clipped, and the clip was not compared.
  expect(clipped).toBeGreaterThan(1);
});
