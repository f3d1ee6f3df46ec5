import { describe, expect, test } from '@jest/globals';
import { actionLogProbs } from '../../../trainers/actor.js';
import { type Policy, walkerActor, walkerValues } from '../../../agents/dialogue-walker/policy.js';
import { makeVectorEnv } from '../../../envs/registry.js';
import { applyAction, initialState, type WalkRules } from '../../../envs/dialogue-walk/rules.js';
import { canonicalPath, pathKey } from '../../../src/kg/graph.js';
import { AdamW } from '../../../src/nn/adamw.js';
import { argmaxSegment } from '../../../src/nn/categorical.js';
import { ppo, type NumberedUpdate as PpoUpdate } from '../../fixtures/run-trainers.js';
import { wholeWalks } from '../../../trainers/rollout.js';
import { ppoSettings, type PpoSettings } from '../../../trainers/ppo-settings.js';
import { isLong, often } from '../../fixtures/long-tests.js';
import { ablations, toyWalker, type ToyWalker } from '../../fixtures/toy-policy.js';
import { graphOf, sampleOf, toyBandit, toyTwoHop, type ToyWorld } from '../../fixtures/toy-walks.js';

const oneStep = { horizon: 1, equalAtStep1: false };
const twoSteps = { horizon: 2, equalAtStep1: false };

/** Without normalisation, and with a bonus that keeps every arm tried: a gold that was never walked teaches nothing. */
const fromScratch: Partial<PpoSettings> = {
  init: 'scratch',
  updates: often(40, 60),
  explorations: often(16, 32),
  updateEpochs: 3,
  klCoef: 0,
  entropyCoef: 0.1,
  normalizeAdvantage: 'none',
  learningRate: 0.01,
  lrDecay: 'none',
  warmupUpdates: 0,
};

interface TrainOptions {
  world: ToyWorld;
  rules: WalkRules;
  toy: ToyWalker;
  settings: Partial<PpoSettings>;
  reference?: Policy;
  start?: Policy;
}

async function trainPpo({ world, rules, toy, settings: given, reference, start = toy.policy(1) }: TrainOptions) {
  const perUpdate = { samplesPerUpdate: world.samples.length, minibatchSamples: world.samples.length };
  const settings = ppoSettings.parse({ ...perUpdate, ...given });
  const network = settings.baseline === 'critic' ? toy.critic(1) : undefined;
  const optimizer = new AdamW(start.head.parameters, { maxGradNorm: settings.maxGradNorm });
  const updates: PpoUpdate[] = [];
  await ppo({
    actor: walkerActor(start),
    optimizer,
    critic: network && {
      network: walkerValues(network, start.featurizer),
      optimizer: new AdamW(network.parameters),
    },
    referencePolicy: reference && walkerActor(reference),
    collect: wholeWalks(
      makeVectorEnv('kgwalk/OpenDialKG-v1', { ...world, rules }, settings.samplesPerUpdate * settings.explorations),
      Int32Array.from(world.samples.keys()),
    ),
    settings,
    seed: 1,
    onUpdate: (update) => {
      updates.push(update);
    },
  });
  return {
    policy: start,
    updates,
    of: (key: string) => updates.map(({ metrics }) => metrics[key]!),
  };
}

/** Share of samples whose most likely walk is their gold. */
async function greedyHits(policy: Policy, { graph, samples }: ToyWorld, rules: WalkRules): Promise<number> {
  let hits = 0;
  for (const { task, gold } of samples) {
    let state = initialState(graph, task.start, rules);
    while (!state.done) {
      const { logProbs } = await actionLogProbs(walkerActor(policy), [{ task, state }]);
      state = applyAction(graph, state, argmaxSegment(logProbs, 0, logProbs.length), rules);
    }
    hits += Number(pathKey(canonicalPath(state.path, graph.equalRelation)) === pathKey(gold.path));
  }
  return hits / samples.length;
}

const mean = (numbers: number[]) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

/** LLM-ARK's network as published: the text alone, and its critic. */
const published = { head: 'pa-mlp', placeVectors: false, stepEncoding: 'additive-sin', critic: 'plain' } as const;

const walkers = {
  candidate: { head: 'candidate' },
  'pa-mlp': { head: 'pa-mlp' },
  published,
  'published bf16': { ...published, precision: 'bf16' },
  ...ablations,
} as const;

describe('B-ARK-1, B-MIN-1: PPO with a network finds the optimum', () => {
  test.each([
    ['a two-hop graph', 'candidate', 'group-mean'],
    ['a bandit', 'published bf16', 'critic'],
    ...(isLong
      ? ([
          ['a bandit', 'candidate', 'group-mean'],
          ['a bandit', 'pa-mlp', 'critic'],
          ['a bandit', 'published', 'critic'],
          ['a two-hop graph', 'pa-mlp', 'group-mean'],
          ['a two-hop graph', 'pa-mlp', 'critic'],
          ['a two-hop graph', 'published', 'critic'],
          ['a two-hop graph', 'trained vectors', 'critic'],
          ['a two-hop graph', 'places', 'critic'],
        ] as const)
      : []),
  ] as const)('of %s from scratch, head %s, baseline %s', async (name, head, baseline) => {
    const [world, rules] = name === 'a bandit' ? [toyBandit(), oneStep] : [toyTwoHop(), twoSteps];
    const toy = await toyWalker(world, rules, walkers[head]);
    const { policy, of } = await trainPpo({ world, rules, toy, settings: { ...fromScratch, baseline } });
    const rewards = of('rollout/reward');
    expect(mean(rewards.slice(0, 3))).toBeLessThan(0.4);
    expect(mean(rewards.slice(-10))).toBeGreaterThan(0.9);
    expect(await greedyHits(policy, world, rules)).toBe(1);
    expect(Math.max(...of('train/first_ratio_deviation'))).toBeLessThanOrEqual(1e-6);
    // Each golden arm is worth the same, so there is little for the critic to explain: it only must not be missing.
    const explained = of('train/explained_variance');
    expect(explained.every((value) => (baseline === 'critic' ? value <= 1 : value === undefined))).toBe(true);
  });
});

describe('PPO', () => {
  test.each(isLong ? (['candidate', 'pa-mlp'] as const) : (['pa-mlp'] as const))(
    'B-ARK-2: samples by the probabilities it learns from, head %s',
    async (head) => {
      // Two hubs whose actions do not fit one chunk of inference, and minibatches of another composition than the chunks.
      const arm = (hub: string, i: number) => [hub, `to${i % 3}`, `arm ${i}`] as const;
      const arms = ['hub', 'knot'].flatMap((hub) => Array.from({ length: 9000 }, (_, i) => arm(hub, i)));
      const graph = graphOf('hubs', arms);
      const samples = ['hub', 'knot', 'hub'].map((hub, i) =>
        sampleOf(graph, `sample-${i}`, `the arm numbered ${i}`, hub, [arm(hub, i)]),
      );
      const world = { graph, samples };
      const toy = await toyWalker(world, oneStep, { head, entityVectors: ['name'] });
      const settings = { ...fromScratch, updates: 2, explorations: 2, updateEpochs: 1, minibatchSamples: 2 };
      const { of } = await trainPpo({ world, rules: oneStep, toy, settings });
      expect(Math.max(...of('train/first_ratio_deviation'))).toBeLessThanOrEqual(1e-6);
    },
  );

  test('goes forward through the critic once a gradient step', async () => {
    const world = toyTwoHop();
    const toy = await toyWalker(world, twoSteps);
    let passes = 0;
    const counted: ToyWalker = {
      ...toy,
      critic: (seed) => {
        const critic = toy.critic(seed);
        const values: typeof critic.values = (batch) => {
          passes++;
          return critic.values(batch);
        };
        return { ...critic, values };
      },
    };
    const passesWith = async (updateEpochs: number) => {
      passes = 0;
      const settings = { ...fromScratch, updates: 1, updateEpochs, baseline: 'critic' } as const;
      await trainPpo({ world, rules: twoSteps, toy: counted, settings });
      return passes;
    };
    expect((await passesWith(4)) - (await passesWith(1))).toBe(3);
  });

  test('stays at the clone under a heavy KL penalty, and leaves it without', async () => {
    const world = toyTwoHop();
    const toy = await toyWalker(world, twoSteps);
    const settings = { ...fromScratch, entropyCoef: 0, updates: 8 };
    const moved = async (klCoef: number) => {
      const { of } = await trainPpo({
        world,
        rules: twoSteps,
        toy,
        settings: { ...settings, klCoef },
        ...(klCoef > 0 && { reference: toy.policy(1) }),
      });
      return { kl: of('train/anchor_kl'), rewards: of('rollout/reward') };
    };
    const [anchored, barely] = [await moved(1000), await moved(1e-9)];
    expect(Math.max(...anchored.kl)).toBeLessThan(0.02);
    expect(barely.kl.at(-1)!).toBeGreaterThan(0.2);
    expect(barely.rewards.at(-1)!).toBeGreaterThan(anchored.rewards.at(-1)! + 0.1);
  });

  test.each([
    ['refuses a policy that samples by other probabilities than it learns from', {}, 1e-3, 'wasm', true],
    ['refuses those of bfloat16 where they are computed alike', { precision: 'bf16' }, 1 / 32, 'wasm', true],
    [
      'allows a step of bfloat16 where a device rounds by the shape',
      { precision: 'bf16' },
      1 / 32,
      'tensorflow',
      false,
    ],
    ['allows no more there', { precision: 'bf16' }, 1, 'tensorflow', true],
  ] as const)('B-ARK-2: %s', async (_, precision, by, backend, refused) => {
    const world = toyBandit();
    const toy = await toyWalker(world, oneStep, { ...published, ...precision });
    const honest = toy.policy(1);
    const infer: Policy['head']['infer'] = async (batch) =>
      (await honest.head.infer(batch)).map((logit, i) => logit + (i % 2) * by);
    const { executor } = honest.head.parameters;
    Object.defineProperty(executor, 'rowsAreIndependent', { value: backend === 'wasm' });
    const start = { ...honest, head: { ...honest.head, infer } };
    const training = trainPpo({ world, rules: oneStep, toy, settings: { ...fromScratch, updates: 1 }, start });
    await (refused
      ? expect(training).rejects.toThrow('expected probability ratios of 1 before the first step')
      : training);
  });
});
