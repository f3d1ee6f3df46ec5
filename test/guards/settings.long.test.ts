/** B-ARK-12, the second half: a setting that is read by nothing. Each is changed by itself, and must change what is learned. */
import { describe, expect, test } from '@jest/globals';
import { walkerActor, walkerValues } from '../../agents/dialogue-walker/policy.js';
import { makeVectorEnv } from '../../envs/registry.js';
import { AdamW } from '../../src/nn/adamw.js';
import { cloneSettings, type CloneSettings } from '../../trainers/clone-settings.js';
import { adamOf } from '../../trainers/ppo-phase.js';
import { ppo } from '../fixtures/run-trainers.js';
import { wholeWalks } from '../../trainers/rollout.js';
import { ppoSettings, type PpoSettings } from '../../trainers/ppo-settings.js';
import { transeSettings, type TransESettings } from '../../agents/embeddings/transe/settings.js';
import type { Parameters } from '../../src/nn/parameters.js';
import { trainTransE } from '../../agents/embeddings/transe/train-transe.js';
import { cloneGolds } from '../fixtures/clone-golds.js';
import { toyWalker } from '../fixtures/toy-policy.js';
import { toyTwoHop } from '../fixtures/toy-walks.js';

const world = toyTwoHop();
const rules = { horizon: 2, equalAtStep1: false };
const toy = await toyWalker(world, rules, { head: 'pa-mlp' });
const weightsOf = async (...parameters: Pick<Parameters, 'export'>[]) =>
  (await Promise.all(parameters.map((set) => set.export())))
    .flatMap((tensors) => Object.values(tensors))
    .flatMap(({ data }) => Array.from(data));

/** A setting with another value, and what else has to be so for it to matter. */
type Change<Settings> = readonly [key: keyof Settings & string, value: unknown, besides?: Partial<Settings>];

/** Remembers what was learned by settings that several changes start from. */
function remembered<Settings, Learned>(learn: (given: Partial<Settings>) => Promise<Learned>): typeof learn {
  const known = new Map<string, Promise<Learned>>();
  return (given) => {
    const key = JSON.stringify(given);
    if (!known.has(key)) known.set(key, learn(given));
    return known.get(key)!;
  };
}

/** Every key is changed here, or named as one that is tested elsewhere. */
function expectAllKeys(shape: object, changes: readonly (readonly [string, ...unknown[]])[], elsewhere: string[]) {
  expect([...new Set([...changes.map(([key]) => key), ...elsewhere])].sort()).toEqual(Object.keys(shape).sort());
}

describe('PPO', () => {
  const base: Partial<PpoSettings> = {
    ...{ baseline: 'critic', updates: 3, samplesPerUpdate: 3, minibatchSamples: 2, explorations: 2, updateEpochs: 2 },
    ...{ learningRate: 0.03, warmupUpdates: 1, entropyCoef: 0.05, klCoef: 0, gamma: 0.9, maxGradNorm: 0.5 },
  };
  const changes: Change<PpoSettings>[] = [
    ['updates', 4],
    ['samplesPerUpdate', 4],
    ['explorations', 3],
    ['minibatchSamples', 3],
    ['updateEpochs', 1],
    ['learningRate', 0.02],
    ['lrDecay', 'none'],
    ['warmupUpdates', 2],
    ['finalLrShare', 0.5],
    ['clipRange', 0.01],
    ['clipRangeValue', 0.01],
    ['adamEpsilon', 0.1],
    ['entropyCoef', 0.5],
    ['entropyDecay', 'linear'],
    ['valueCoef', 0.1],
    ['maxGradNorm', 0.01],
    ['gamma', 0.5],
    ['gamma', 0.5, { baseline: 'group-mean' }],
    ['gaeLambda', 0.1],
    ['baseline', 'group-mean'],
    ['baseline', 'none'],
    ['baseline', 'leave-one-out'],
    ['normalizeAdvantage', 'group', { baseline: 'group-mean' }],
    ['baseline', 'moving-average'],
    ['baselineDecay', 0.5, { baseline: 'moving-average' }],
    ['algorithm', 'reinforce'],
    ['actionDropout', 0.5],
    ['dualClip', 1.01, { learningRate: 0.5 }],
    ['normalizeAdvantage', 'buffer'],
    ['normalizeAdvantage', 'none'],
    ['normalizeAdvantage', 'buffer', { normalizeAdvantage: 'none' }],
    ['targetKl', 0],
    ['klCoef', 5],
  ];

  const learned = remembered(async (given: Partial<PpoSettings>) => {
    const settings = ppoSettings.parse({ ...base, ...given });
    const [policy, network] = [toy.policy(1), toy.critic(1)];
    const reference = settings.klCoef > 0 ? toy.policy(2) : undefined;
    const critic = {
      network: walkerValues(network, policy.featurizer),
      optimizer: adamOf(network.parameters, settings),
    };
    await ppo({
      ...{
        actor: walkerActor(policy),
        optimizer: adamOf(policy.head.parameters, settings),
        referencePolicy: reference && walkerActor(reference),
      },
      ...{ settings, seed: 1 },
      ...(settings.baseline === 'critic' && { critic }),
      collect: wholeWalks(
        makeVectorEnv('kgwalk/OpenDialKG-v1', { ...world, rules }, settings.samplesPerUpdate * settings.explorations),
        Int32Array.from(world.samples.keys()),
      ),
    });
    const weights = await weightsOf(policy.head.parameters, network.parameters);
    for (const one of [policy.head, reference?.head, network]) one?.dispose();
    return weights;
  });

  test('does not change by itself, nor with what does not concern it', async () => {
    expect(await learned({ updates: 3 })).toEqual(await learned({}));
    // Without a critic no estimate is shortened.
    const alone = { baseline: 'none' } as const;
    expect(await learned({ ...alone, gaeLambda: 0.1 })).toEqual(await learned(alone));
  });

  test.each(changes)('B-ARK-12: changes with %s=%j', async (key, value, besides = {}) => {
    expect(await learned({ ...besides, [key]: value })).not.toEqual(await learned(besides));
  });

  test('has no other setting, but those of the phase and of masked policies', () =>
    expectAllKeys(ppoSettings.shape, changes, [
      ...['enabled', 'init', 'gradient', 'evalEvery', 'evalSamples', 'patience', 'feasibilityCoef', 'trainHorizon'],
    ]));
});

describe('cloning', () => {
  const base: Partial<CloneSettings> = {
    epochs: 2,
    batchSize: 2,
    warmupSteps: 2,
    learningRate: 0.02,
    maxCandidates: 4,
  };
  const changes: Change<CloneSettings>[] = [
    ['epochs', 3],
    ['batchSize', 3],
    ['learningRate', 0.01],
    ['warmupSteps', 4],
    ['finalLearningRateShare', 0.9],
    ['maxCandidates', 3],
    ['twoHopWeight', 3],
    ['loss', 'nodes'],
  ];

  const learned = remembered(async (given: Partial<CloneSettings>) => {
    const settings = cloneSettings.parse({ ...base, ...given });
    const policy = toy.policy(1);
    const optimizer = new AdamW(policy.head.parameters);
    await cloneGolds({ policy, optimizer, train: world.samples, valid: world.samples, settings, seed: 1 });
    const weights = await weightsOf(policy.head.parameters);
    policy.head.dispose();
    return weights;
  });

  test('does not change by itself', async () => expect(await learned({ epochs: 2 })).toEqual(await learned({})));

  test.each(changes)('B-ARK-12: changes with %s=%j', async (key, value) => {
    expect(await learned({ [key]: value })).not.toEqual(await learned({}));
  });

  test('has no other setting, but those of the phase and of what is shown', () =>
    expectAllKeys(cloneSettings.shape, changes, ['enabled', 'weightDecay', 'maxGradNorm', 'linkedTurns']));
});

describe('TransE', () => {
  const base: Partial<TransESettings> = { dim: 8, negatives: 6, epochs: 4, evalEvery: 1, patience: 9, temperature: 1 };
  // Steps so long that validation rises and falls.
  const restless = { learningRate: 3, schedule: 'constant', epochs: 30 } as const;
  const changes: Change<TransESettings>[] = [
    ['dim', 6],
    ['norm', 2],
    ['loss', 'margin'],
    ['margin', 2],
    ['temperature', 3],
    ['negatives', 7],
    ['negativeCutoff', 0.9],
    ['bernoulli', true],
    ['optimizer', 'sgd'],
    ['learningRate', 0.01],
    ['batchSize', 4],
    ['schedule', 'constant'],
    ['epochs', 5],
    ['evalEvery', 4, restless],
    ['patience', 1, restless],
  ];

  const learned = remembered(async (given: Partial<TransESettings>) => {
    const settings = transeSettings.parse({ ...base, ...given });
    // A wheel: one hub to eleven ends, and a ring of them.
    const edges = Array.from({ length: 11 }, (_, i) => [
      [11, 0, i],
      [i, 1, (i + 1) % 11],
    ]).flat();
    const column = (index: number) => Int32Array.from(edges, (edge) => edge[index]!);
    const train = { heads: column(0), relations: column(1), tails: column(2) };
    const { state } = await trainTransE({
      ...{ numEntities: 12, numRelations: 2, train, valid: train, settings, seed: 3 },
    });
    return { epoch: state.epoch, best: state.best?.epoch, entities: state.table.entities };
  });

  test('does not change by itself', async () => expect(await learned({ epochs: 4 })).toEqual(await learned({})));

  test.each(changes)('B-ARK-12: changes with %s=%j', async (key, value, besides = {}) => {
    expect(await learned({ ...besides, [key]: value })).not.toEqual(await learned(besides));
  });

  test('has no other setting, but those of pretraining', () =>
    expectAllKeys(transeSettings.shape, changes, ['enabled', 'validShare', 'imported']));
});
