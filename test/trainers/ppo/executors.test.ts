/** One PPO update with the real heads on every executor, compared with SIMD kernels. */
import { describe, expect, test } from '@jest/globals';
import { walkerActor, walkerValues } from '../../../agents/walker/policy.js';
import { makeVectorEnv } from '../../../envs/index.js';
import type { WalkerSettings } from '../../../agents/walker/settings.js';
import type { ExecutorName } from '../../../src/nn/open-executor.js';
import { WebGpuExecutor } from '../../../src/nn/webgpu/executor.js';
import { adamOf } from '../../../trainers/ppo-phase.js';
import { ppo } from '../../../trainers/ppo.js';
import { wholeWalks } from '../../../trainers/rollout.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { executorsHere } from '../../fixtures/executors.js';
import { toyWalker } from '../../fixtures/toy-policy.js';
import { randomize } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

/** Tolerance for a weight or a metric; the step of a weight is about 0.01. */
const tolerance = 2e-5;

const rules = { horizon: 2, equalAtStep1: false };
const explorations = 4;

const cases: Record<string, { walker: Partial<WalkerSettings>; ppo?: object }> = {
  'the candidate head': { walker: { head: 'candidate' } },
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

/** Weights of actor and critic after an update of two minibatches, and the figures of that update. */
async function update(backend: ExecutorName, { walker, ppo: other }: (typeof cases)[string]) {
  const world = toyTwoHop();
  const toy = await toyWalker(world, rules, walker, backend);
  const policy = toy.policy(1);
  await randomize(policy.head.parameters, 3);
  policy.head.weightsChanged();
  const actor = walkerActor(policy);
  const network = walkerValues(toy.critic(1), policy.featurizer);
  const settings = ppoSettings.parse({
    ...{ updates: 1, samplesPerUpdate: 2, minibatchSamples: 1, explorations, updateEpochs: 1, baseline: 'critic' },
    // An epsilon near the size of the gradients, so that one that is nearly zero moves nothing, with either sign.
    ...{ learningRate: 0.05, warmupUpdates: 0, klCoef: 0, adamEpsilon: 0.01, entropyCoef: 0.05 },
    ...other,
  });
  const [optimizer, ofCritic] = [adamOf(actor.parameters, settings), adamOf(network.parameters, settings)];
  const critic = settings.baseline === 'critic' ? { network, optimizer: ofCritic } : undefined;
  const clone = walkerActor(toy.policy(5));
  const envs = makeVectorEnv('kgwalk/OpenDialKG-v1', { ...world, rules }, 2 * explorations);
  const walkable = Int32Array.from(world.samples, (_, i) => i);
  let figures: Record<string, number> = {};
  const before = toy.executor instanceof WebGpuExecutor ? toy.executor.device.calls.reads : 0;
  await ppo({
    ...{ actor, optimizer, critic, settings, seed: 2, referencePolicy: clone },
    collect: wholeWalks(envs, walkable),
    onUpdate: ({ metrics }) => void (figures = metrics),
  });
  const { executor } = actor.parameters;
  const reads = executor instanceof WebGpuExecutor ? executor.device.calls.reads - before : undefined;
  const weights = { ...(await actor.parameters.export()), ...(await network.parameters.export()) };
  envs.close();
  optimizer.dispose();
  ofCritic.dispose();
  actor.dispose();
  clone.dispose();
  network.dispose();
  return { weights, figures, reads };
}

const names = (await executorsHere()).filter((name) => name !== 'simd');
const plain = new Map<string, Awaited<ReturnType<typeof update>>>();
for (const [name, one] of Object.entries(cases)) plain.set(name, await update('simd', one));

describe.each(names)('an update on %s', (backend) => {
  test.each(Object.entries(cases))('of %s is that of SIMD kernels', async (name, one) => {
    const [got, expected] = [await update(backend, one), plain.get(name)!];
    expect(Object.keys(got.weights)).toEqual(Object.keys(expected.weights));
    const differences = Object.entries(expected.weights).flatMap(([name, { data }]) =>
      Array.from(data, (value, i) => Math.abs(value - got.weights[name]!.data[i]!)),
    );
    expect(Math.max(...differences)).toBeLessThan(tolerance);
    // One for all walks a step, one for the whole round.
    if (one.ppo === undefined && backend === 'webgpu') expect(got.reads).toBe(rules.horizon + 1);
    for (const [name, figure] of Object.entries(expected.figures)) {
      expect([name, Math.abs(got.figures[name]! - figure) < tolerance * Math.max(1, Math.abs(figure))]).toEqual([
        name,
        true,
      ]);
    }
  });
});
