/** LLM-ARK's bugs in its network's numbers and weights, by their ids in the catalogue, for the network as the paper has it. */
import { describe, expect, test } from '@jest/globals';
import type { StateRequest } from '../../agents/dialogue-walker/features/featurizer.js';
import { actionLogProbs } from '../../trainers/actor.js';
import type { WalkerSettings } from '../../agents/dialogue-walker/settings.js';
import { walkerActor, walkerValues } from '../../agents/dialogue-walker/policy.js';
import { makeVectorEnv } from '../../envs/registry.js';
import { defaultWalkRules } from '../../envs/dialogue-walk/rules.js';
import { Rng } from '../../src/run/seeds.js';
import { segmentLogSoftmax } from '../../src/nn/categorical.js';
import { generalizedAdvantages } from '../../trainers/advantages.js';
import { actionDraw, collectRollouts } from '../../trainers/rollout.js';
import { RolloutBuffer } from '../../trainers/rollout-buffer.js';
import { reachableStates, randomize } from '../fixtures/toy-walker.js';
import { toyTwoHop } from '../fixtures/toy-walks.js';
import { toyWalker } from '../fixtures/toy-policy.js';

const world = toyTwoHop();
const published = { head: 'pa-mlp', placeVectors: false, critic: 'plain' } as const;
const networks: [string, Partial<WalkerSettings>][] = [
  ['as published', {}],
  ['in bfloat16', { precision: 'bf16' }],
  ['with the step', { stepEncoding: 'concat' }],
  ['with the sinusoidal step', { stepEncoding: 'additive-sin', stateNorm: 'layer' }],
  ['with trained vectors', { entityInit: 'random-trainable', entityVectors: ['name'] }],
  ['with trained vectors in bfloat16', { entityInit: 'random-trainable', precision: 'bf16' }],
];

/** Walkers whose weights are no longer small, so that their probabilities differ; a round of walks that they make. */
async function walked(changes: Partial<WalkerSettings>) {
  const toy = await toyWalker(world, defaultWalkRules, { ...published, ...changes });
  const [policy, critic] = [toy.policy(1), toy.critic(1)];
  await randomize(policy.head.parameters, 1);
  await randomize(critic.parameters, 2);
  policy.head.weightsChanged();
  const [actor, values] = [walkerActor(policy), walkerValues(critic, policy.featurizer)];
  const explorations = 4;
  const count = world.samples.length * explorations;
  const buffer = new RolloutBuffer<StateRequest>(2 * count);
  const envs = makeVectorEnv('kgwalk/OpenDialKG-v1', world, count);
  await collectRollouts(actor, values, envs, buffer, [...world.samples.keys()], explorations, actionDraw(new Rng(3)));
  buffer.setAdvantages(generalizedAdvantages(buffer.rollout, 0.95, 0.95));
  const dispose = () => [actor, critic].forEach((one) => one.dispose());
  return { policy, actor, critic, values, buffer, dispose };
}

/** True if a number has no more than the 8 significant bits of bfloat16. */
function isBfloat16(value: number): boolean {
  return (new Uint32Array(Float32Array.of(value).buffer)[0]! & 0xffff) === 0;
}

describe.each(networks)('the network %s', (_, changes) => {
  test('B-ARK-1, B-ARK-2: learns from the numbers it was walked with: every first ratio is 1, every value is of its state', async () => {
    const { actor, values, buffer, dispose } = await walked(changes);
    let seen = 0;
    const allValues = new Set<number>();
    for (const { states, transitions } of buffer.bySample(2, new Rng(1))) {
      const requests = Array.from(states, (state) => buffer.states[state]!);
      const { offsets, logits } = actor.score(requests);
      const logProbs = segmentLogSoftmax(await logits().read(), offsets);
      const valued = await values.values(requests)().read();
      expect(valued).toHaveLength(requests.length);
      transitions.oldLogProb.forEach((logProb, t) => {
        const state = transitions.state[t]!;
        const now = logProbs[offsets[state]! + transitions.action[t]!]!;
        expect(Math.abs(Math.exp(now - logProb) - 1)).toBeLessThanOrEqual(1e-6);
        expect(transitions.oldValue[t]).toBeCloseTo(valued[state]!, 6);
        seen++;
      });
      valued.forEach((value) => allValues.add(value));
    }
    expect(seen).toBe(buffer.length);
    expect(allValues.size).toBeGreaterThanOrEqual(world.samples.length);
    dispose();
  });

  test('B-ARK-13: computes and keeps probabilities, advantages and returns in float32', async () => {
    const { policy, buffer, dispose } = await walked(changes);
    const { logProbs, offsets } = await actionLogProbs(walkerActor(policy), reachableStates(world));
    for (let s = 0; s + 1 < offsets.length; s++) {
      const mass = logProbs.subarray(offsets[s], offsets[s + 1]).reduce((sum, one) => sum + Math.exp(one), 0);
      // Log-probabilities of eight significant bits miss 1 by some thousandths.
      expect(Math.abs(mass - 1)).toBeLessThan(1e-6);
    }
    const { advantages, returns } = generalizedAdvantages(buffer.rollout, 0.95, 0.95);
    const [all] = buffer.bySample(world.samples.length, new Rng(0));
    const { oldLogProb, advantage } = all!.transitions;
    expect([...all!.transitions.returns].sort()).toEqual([...returns].sort());
    expect([...advantage].sort()).toEqual([...advantages].sort());
    const short = oldLogProb.filter((value) => value !== 0 && isBfloat16(value)).length;
    expect(short / oldLogProb.length).toBeLessThan(0.2);
    dispose();
  });
});

test('B-ARK-14: trained vectors are among the weights: a checkpoint without them is refused, with them it answers alike', async () => {
  const toy = await toyWalker(world, defaultWalkRules, { ...published, entityInit: 'random-trainable' });
  const [trained, fresh] = [toy.policy(1), toy.policy(2)];
  await randomize(trained.head.parameters, 7);
  trained.head.weightsChanged();
  const weights = await trained.head.parameters.export();
  const requests = reachableStates(world);
  const asked = async (policy: typeof trained) => [
    ...(await actionLogProbs(walkerActor(policy, true), requests)).logProbs,
  ];
  expect(await asked(fresh)).not.toEqual(await asked(trained));

  const tables = Object.keys(weights).filter((name) => weights[name]!.shape[0]! >= world.graph.numEntities);
  expect(tables).not.toEqual([]);
  for (const name of tables) {
    const without = Object.fromEntries(Object.entries(weights).filter(([other]) => other !== name));
    expect(() => fresh.head.parameters.import(without)).toThrow(name);
  }
  fresh.head.parameters.import(weights);
  fresh.head.weightsChanged();
  expect(await asked(fresh)).toEqual(await asked(trained));
  for (const { head } of [trained, fresh]) head.dispose();
});
