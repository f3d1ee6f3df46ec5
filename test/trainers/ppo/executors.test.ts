/** One PPO update with the real heads on every executor, compared with SIMD kernels. */
import { describe, expect, test } from '@jest/globals';
import type { Actor, ValueNetwork } from '../../../trainers/actor.js';
import { mlpPolicy } from '../../../agents/policy/policy.js';
import { wordBasis } from '../../../agents/readers/words/inputs.js';
import { relationActor, type RelationNetwork, unmasked } from '../../../agents/relation-walker/network.js';
import { relationWalkerSettings } from '../../../agents/relation-walker/settings.js';
import { wordFacts, WordNetwork } from '../../../agents/relation-walker/word-network.js';
import { walkerActor, walkerValues } from '../../../agents/dialogue-walker/policy.js';
import { cartPoleId, makeVectorEnv, maskedBanditId } from '../../../envs/index.js';
import { RelationWalkEnv, relationWalkWorld } from '../../../envs/relation-walk/relation-walk-env.js';
import { VectorEnv } from '../../../envs/vector-env.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import type { WalkerSettings } from '../../../agents/dialogue-walker/settings.js';
import { type ExecutorName, openExecutor } from '../../../src/nn/open-executor.js';
import { WebGpuExecutor } from '../../../src/nn/webgpu/executor.js';
import { adamOf } from '../../../trainers/ppo-phase.js';
import { ppo } from '../../fixtures/run-trainers.js';
import { type Collect, wholeWalks } from '../../../trainers/rollout.js';
import { StepRollout } from '../../../agents/policy/step-rollout.js';
import { registeredSource, shapeOf } from '../../../agents/policy/source.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { executorsHere } from '../../fixtures/executors.js';
import { shake, toyRelationWalker } from '../../fixtures/toy-relation-walker.js';
import { toyWalker } from '../../fixtures/toy-policy.js';
import { randomize } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

/** Tolerance for a weight or a metric; the step of a weight is about 0.01. */
const tolerance = 2e-5;

const rules = { horizon: 2, equalAtStep1: false };
const explorations = 4;

interface WalkerCase {
  walker: Partial<WalkerSettings>;
  ppo?: object;
}

const walkers: Record<string, WalkerCase> = {
  'the candidate head': { walker: { head: 'candidate' } },
  'a transformer’s head': { walker: { head: 'hitkg' }, ppo: { updateEpochs: 2 } },
  'the pa-mlp head': {
    walker: { head: 'pa-mlp' },
    ppo: { updateEpochs: 3, clipRange: 0.05, dualClip: 2, clipRangeValue: 0.1 },
  },
  'the pa-mlp head in bfloat16 without a critic': {
    walker: { head: 'pa-mlp', precision: 'bf16' },
    ppo: { baseline: 'group-mean' },
  },
  'the pa-mlp head with trained vectors': {
    walker: { head: 'pa-mlp', entityInit: 'random-trainable', placeVectors: false },
    ppo: { updateEpochs: 2, klCoef: 0.1, targetKl: 10 },
  },
};

/** Networks that learn, the reference policy, and what they learn from. */
interface Learning {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- observations and requests differ by case
  actor: Actor<any, any>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  network: ValueNetwork<any> | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  referencePolicy: Actor<any, any>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  collect: Collect<any, any>;
  /** Other settings of PPO. */
  ppo?: object | undefined;
  close(): void;
}

async function dialogueWalker(backend: ExecutorName, { walker, ppo: settings }: WalkerCase): Promise<Learning> {
  const world = toyTwoHop();
  const toy = await toyWalker(world, rules, walker, backend);
  const policy = toy.policy(1);
  await randomize(policy.head.parameters, 3);
  policy.head.weightsChanged();
  const envs = makeVectorEnv('kgwalk/OpenDialKG-v1', { ...world, rules }, 2 * explorations);
  return {
    actor: walkerActor(policy),
    network: walkerValues(toy.critic(1), policy.featurizer),
    referencePolicy: walkerActor(toy.policy(5)),
    collect: wholeWalks(
      envs,
      Int32Array.from(world.samples, (_, i) => i),
    ),
    ppo: settings,
    close: () => envs.close(),
  };
}

async function relationWalker(backend: ExecutorName, reads: 'sentence' | 'words'): Promise<Learning> {
  const { executor } = await openExecutor(backend);
  const { graph, samples, network, networkOf } = await toyRelationWalker(undefined, executor);
  const world = relationWalkWorld({ graph, samples, rules: { horizon: 3, hops: 'learned' }, reward: 'f1' });
  const envs = new VectorEnv(Array.from({ length: 2 * explorations }, () => new RelationWalkEnv(world)));
  const settings = relationWalkerSettings.parse({ reads: 'words', wordDim: 6, wordWidth: 5, dropout: 0.3 });
  const facts = wordFacts(settings, hashedEncoder(12));
  const basis = await wordBasis(facts, samples);
  const make = async (seed: number): Promise<RelationNetwork> => {
    const words = new WordNetwork(executor, facts, { numRelations: graph.numRelations, horizon: 3 }, basis, seed);
    const own = reads === 'words' ? words : seed === 1 ? network : networkOf(seed);
    await own.prepare(samples.map(({ task }) => unmasked(task)));
    await shake(own);
    return own;
  };
  const [actor, referencePolicy] = [relationActor(await make(1)), relationActor(await make(5))];
  const collect = wholeWalks(envs, world.walkable);
  return {
    actor,
    network: undefined,
    referencePolicy,
    collect,
    ppo: { klCoef: 0.1, feasibilityCoef: 0.1 },
    close: () => envs.close(),
  };
}

async function vectorPolicy(backend: ExecutorName, id: string): Promise<Learning> {
  const { executor } = await openExecutor(backend);
  const source = registeredSource({ id });
  const shape = shapeOf(source);
  const make = mlpPolicy({ hidden: [7, 5] });
  const { actor, critic } = make(shape, 1, executor);
  const envs = Array.from({ length: 4 }, () => source.make());
  const rollout = new StepRollout({ envs, shape, numSteps: 8, minibatchSize: 16, seed: 1 });
  return {
    ...{ actor, network: critic, referencePolicy: make(shape, 2, executor).actor, collect: rollout.collect() },
    ppo: { updates: 2, updateEpochs: 2, klCoef: 0.1 },
    close: () => envs.forEach((env) => env.close()),
  };
}

const learning: Record<string, (backend: ExecutorName) => Promise<Learning>> = {
  ...Object.fromEntries(
    Object.entries(walkers).map(([name, one]) => [name, (backend: ExecutorName) => dialogueWalker(backend, one)]),
  ),
  'a relation walker that reads a vector': (backend) => relationWalker(backend, 'sentence'),
  'a relation walker that reads words': (backend) => relationWalker(backend, 'words'),
  'a policy over vectors': (backend) => vectorPolicy(backend, cartPoleId),
  'a policy over vectors with masks': (backend) => vectorPolicy(backend, maskedBanditId),
};

/** Weights of actor and critic after updates of two minibatches or more, and the figures of the last. */
async function update(backend: ExecutorName, open: (backend: ExecutorName) => Promise<Learning>) {
  const { actor, network, referencePolicy, collect, ppo: other, close } = await open(backend);
  const settings = ppoSettings.parse({
    ...{ updates: 1, samplesPerUpdate: 2, minibatchSamples: 1, explorations, updateEpochs: 1 },
    // An epsilon near the size of the gradients, so that one that is nearly zero moves nothing, with either sign.
    ...{ learningRate: 0.05, warmupUpdates: 0, klCoef: 0, adamEpsilon: 0.01, entropyCoef: 0.05 },
    ...{ baseline: network ? 'critic' : 'group-mean' },
    ...other,
  });
  const optimizer = adamOf(actor.parameters, settings);
  const critic =
    network && settings.baseline === 'critic'
      ? { network, optimizer: adamOf(network.parameters, settings) }
      : undefined;
  let figures: Record<string, number> = {};
  const { executor } = actor.parameters;
  const readsOf = () => (executor instanceof WebGpuExecutor ? executor.device.calls.reads : 0);
  const before = readsOf();
  await ppo({
    ...{ actor, optimizer, critic, settings, seed: 2, referencePolicy, collect },
    onUpdate: ({ metrics }) => void (figures = metrics),
  });
  const reads = readsOf() - before;
  const weights = { ...(await actor.parameters.export()), ...(await network?.parameters.export()) };
  close();
  for (const one of [optimizer, critic?.optimizer, actor, referencePolicy, network]) one?.dispose();
  return { weights, figures, reads };
}

const names = (await executorsHere()).filter((name) => name !== 'simd');
const plain = new Map<string, Awaited<ReturnType<typeof update>>>();
for (const [name, open] of Object.entries(learning)) plain.set(name, await update('simd', open));

describe.each(names)('an update on %s', (backend) => {
  test.each(Object.entries(learning))('of %s is that of SIMD kernels', async (name, open) => {
    const [got, expected] = [await update(backend, open), plain.get(name)!];
    expect(Object.keys(got.weights)).toEqual(Object.keys(expected.weights));
    const differences = Object.entries(expected.weights).flatMap(([name, { data }]) =>
      Array.from(data, (value, i) => Math.abs(value - got.weights[name]!.data[i]!)),
    );
    expect(Math.max(...differences)).toBeLessThan(tolerance);
    // One for all walks a step, one for the whole round.
    if (name === 'the candidate head' && backend === 'webgpu') expect(got.reads).toBe(rules.horizon + 1);
    for (const [name, figure] of Object.entries(expected.figures)) {
      expect([name, Math.abs(got.figures[name]! - figure) < tolerance * Math.max(1, Math.abs(figure))]).toEqual([
        name,
        true,
      ]);
    }
  });
});
