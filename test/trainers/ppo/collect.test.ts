import { expect, test } from '@jest/globals';
import { walkerActor, walkerValues } from '../../../agents/walker/policy.js';
import type { DialogueWalkObservation } from '../../../envs/dialogue-walk/dialogue-walk-env.js';
import type { Env } from '../../../envs/env.js';
import { makeEnv } from '../../../envs/registry.js';
import { defaultWalkRules } from '../../../envs/dialogue-walk/rules.js';
import { VectorEnv } from '../../../envs/vector-env.js';
import type { StateRequest } from '../../../agents/walker/features/featurizer.js';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend } from '../../../src/tensor/backend.js';
import { readTensor } from '../../../src/tensor/ops.js';
import { actionDraw, collectRollouts, RolloutBuffer } from '../../../trainers/rollout.js';
import { recordedTrees, rowNumbers, tableActor, type TreeRequest } from '../../fixtures/random-walks.js';
import { toyWalker } from '../../fixtures/toy-policy.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

test('an episode that the environment cuts is worth what the critic says of the state it was left in', async () => {
  const world = toyTwoHop();
  const toy = await toyWalker(world, defaultWalkRules, { head: 'pa-mlp' });
  const [policy, critic] = [toy.policy(1), toy.critic(1)];
  const left: DialogueWalkObservation[] = [];
  const cutAfterOneStep = (): Env<DialogueWalkObservation> => {
    const env = makeEnv('kgwalk/OpenDialKG-v1', world);
    const step = env.step.bind(env);
    env.step = (action) => {
      const result = step(action);
      left.push(result.observation);
      return { ...result, terminated: false, truncated: true };
    };
    return env;
  };
  const envs = new VectorEnv([cutAfterOneStep(), cutAfterOneStep()]);
  const buffer = new RolloutBuffer<StateRequest>(2);
  const [actor, values] = [walkerActor(policy), walkerValues(critic, policy.featurizer)];
  const figures = await collectRollouts(actor, values, envs, buffer, [0, 4], 1, actionDraw(new Rng(3)));
  const requests = left.map(({ task, start, current, hop, path }) => ({
    task,
    state: { start, current, hop, path, done: false },
    actions: new Int32Array(0),
  }));
  const expected = await readTensor(toy.tf, () => critic.values(policy.featurizer.batch(requests)));
  expect([figures.length, buffer.length]).toEqual([1, 2]);
  expect([...buffer.rollout.bootstrapValues]).toEqual([...expected]);
  expect(expected.every((value) => value !== 0)).toBe(true);
});

test('an actor without custom keys distinguishes states by the path to them', async () => {
  const { tf } = await openBackend('cpu');
  const kind = { seed: 8, ends: true, cuts: false };
  const collected = async (keyed: boolean) => {
    const { stateKey, ...actor } = tableActor(tf, 8, rowNumbers());
    const { envs } = recordedTrees(kind, 60, rowNumbers());
    const buffer = new RolloutBuffer<TreeRequest>(180);
    const draw = actionDraw(new Rng(3));
    const walker = keyed ? { ...actor, stateKey: stateKey! } : actor;
    // Two samples of one number are one.
    await collectRollouts(walker, undefined, envs, buffer, [0, 4, 2, 4], 15, draw);
    actor.dispose();
    const [batch] = buffer.minibatches(3, new Rng(1));
    return { states: buffer.states.map(({ state }) => state), batch };
  };
  const own = await collected(false);
  expect(own).toEqual(await collected(true));
  expect(own.states.length).toBeLessThan(own.batch!.transitions.state.length);
  expect(own.states.filter(({ path }) => path === '')).toHaveLength(3);
});
