/** The walker of link queries on the host beside the same by a tensor library: one network, two ways to compute it. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { actionLogProbs } from '../../../agents/actor.js';
import { createLinkCritic, createLinkWalker } from '../../../agents/link-walker/link-walker.js';
import type { LinkActor, LinkRequest } from '../../../agents/link-walker/request.js';
import { linkWalkerSettings } from '../../../agents/link-walker/settings.js';
import { LinkQueryBatch } from '../../../envs/link-query/link-query-batch.js';
import { linkQueryWorld } from '../../../envs/link-query/world.js';
import { Rng } from '../../../src/run/seeds.js';
import { adamWOf } from '../../../src/tensor/adamw.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { Diverged } from '../../../src/tensor/diverged.js';
import type { StoredTensors } from '../../../src/tensor/parameters.js';
import type { TrainedParameters } from '../../../src/tensor/trainable.js';
import { ppo } from '../../../trainers/ppo.js';
import { wholeWalks } from '../../../trainers/rollout.js';
import { adamOf } from '../../../trainers/ppo-phase.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { tinyLinkWorld } from '../../fixtures/tiny-links.js';
import { expectClose } from '../../fixtures/gradient-check.js';

const { graph, train } = tinyLinkWorld();
const { numEntities, numRelations } = graph;
const world = linkQueryWorld({ graph, queries: train });

let tf: Tf;
beforeAll(async () => ({ tf } = await openBackend('wasm')));

const kinds = [
  ['trained vectors', {}],
  ['vectors that stay', { vectors: 'transe', trainVectors: false }],
  ['relations alone', { readEntities: false }],
] as const;

function networks(given: object, seed?: number) {
  const settings = linkWalkerSettings.parse({ pathEncoder: 'mean', vectorDim: 6, width: 12, ...given });
  const start =
    settings.vectors === 'random'
      ? undefined
      : {
          dim: 5,
          entities: Float32Array.from({ length: 5 * numEntities }, (_, i) => Math.sin(i)),
          relations: Float32Array.from({ length: 5 * numRelations }, (_, i) => Math.cos(i)),
        };
  const shape = { numEntities, numRelations, start };
  const of = (computer: Tf | 'host') => ({
    actor: createLinkWalker(computer, settings, { ...shape, lists: graph }, seed),
    critic: createLinkCritic(computer, settings, shape, seed ?? 0),
  });
  return { tensors: of(tf), host: of('host') };
}

/** States of random walks, the masked ones of beginnings among them. */
function randomStates({ requestOf }: LinkActor): LinkRequest[] {
  const rng = Rng.named(3, 'test/states');
  const batch = new LinkQueryBatch(world, 12);
  let { observations, live } = batch.reset({ options: Array.from({ length: 12 }, (_, sample) => ({ sample })) });
  const states: LinkRequest[] = [];
  while (live.length > 0) {
    const walking = live.slice();
    const actions = new Int32Array(12);
    for (const copy of walking) {
      states.push(requestOf(observations[copy]!));
      const legal = [...observations[copy]!.actionMask.keys()].filter((i) => observations[copy]!.actionMask[i] === 1);
      actions[copy] = legal[rng.integer(legal.length)]!;
    }
    ({ observations, live } = batch.step(actions));
  }
  return states;
}

/** Large enough for every weight to be felt. */
async function scattered(parameters: TrainedParameters): Promise<StoredTensors> {
  const rng = Rng.named(4, 'test/weights');
  const tensors = await parameters.export();
  for (const { data } of Object.values(tensors)) data.forEach((_, i) => (data[i] = 0.4 * rng.normal()));
  return tensors;
}

describe.each(kinds)('with %s', (_, given) => {
  test('starts as the other does, by the same names and shapes', async () => {
    const { tensors, host } = networks(given, 7);
    for (const part of ['actor', 'critic'] as const) {
      const [one, other] = await Promise.all([tensors[part].parameters.export(), host[part].parameters.export()]);
      expect(other).toEqual(one);
      expect(host[part].parameters.names).toEqual(tensors[part].parameters.names);
    }
  });

  test('gives states the same chances and values, and a state alone the same bits as among others', async () => {
    const { tensors, host } = networks(given);
    const states = randomStates(host.actor);
    for (const part of ['actor', 'critic'] as const) {
      const weights = await scattered(tensors[part].parameters);
      [tensors, host].forEach((one) => one[part].parameters.import(weights));
    }
    const [theirs, ours] = [await actionLogProbs(tensors.actor, states), await actionLogProbs(host.actor, states)];
    expect(ours.offsets).toEqual(theirs.offsets);
    expectClose(ours.logProbs, theirs.logProbs, 1e-5);
    for (const [i, state] of states.entries()) {
      const alone = await actionLogProbs(host.actor, [state]);
      expect(alone.logProbs).toEqual(ours.logProbs.slice(ours.offsets[i], ours.offsets[i + 1]));
    }
    const valued = ({ critic }: typeof host) => critic.parameters.read(critic.values(states));
    expectClose(await valued(host), await valued(tensors), 1e-5);
  });

  test('goes back to every parameter as the other does', async () => {
    const { tensors, host } = networks(given);
    const states = randomStates(host.actor);
    const moments = async ({ actor, critic }: typeof host) => {
      const found: Record<string, number[]> = {};
      for (const [{ parameters }, outputs] of [
        [actor, () => actor.score(states).logits()],
        [critic, critic.values(states)],
      ] as const) {
        const optimizer = adamWOf(parameters);
        await optimizer.step(async (record) => {
          const { values, back } = await record(outputs);
          back(values.map((_, i) => Math.sin(i)));
        }, 1e-3);
        const { tensors: state } = await optimizer.exportState('');
        for (const [name, { data }] of Object.entries(state)) found[name] = [...data];
      }
      return found;
    };
    for (const part of ['actor', 'critic'] as const) {
      const weights = await scattered(tensors[part].parameters);
      [tensors, host].forEach((one) => one[part].parameters.import(weights));
    }
    const [theirs, ours] = [await moments(tensors), await moments(host)];
    expect(Object.keys(ours)).toEqual(Object.keys(theirs));
    for (const [name, values] of Object.entries(theirs)) expectClose(ours[name]!, values, 1e-4);
  });
});

test('learns by PPO as the other does, to the last digits of float32', async () => {
  const settings = ppoSettings.parse({
    ...{ init: 'scratch', klCoef: 0, baseline: 'critic', updates: 3, samplesPerUpdate: 6, minibatchSamples: 3 },
    ...{ explorations: 4, learningRate: 1e-3, warmupUpdates: 0 },
  });
  const { tensors, host } = networks({}, 5);
  const trained = async ({ actor, critic }: typeof host) => {
    const rewards: number[] = [];
    const deviations: number[] = [];
    await ppo({
      actor,
      optimizer: adamOf(actor.parameters, settings),
      critic: { network: critic, optimizer: adamOf(critic.parameters, settings) },
      collect: wholeWalks(new LinkQueryBatch(world, 24), Int32Array.from(train.heads.keys())),
      settings,
      seed: 1,
      onUpdate: ({ metrics }) => {
        rewards.push(metrics['rollout/reward']!);
        deviations.push(metrics['train/first_ratio_deviation']!);
      },
    });
    return { rewards, deviations, weights: await actor.parameters.export() };
  };
  const [theirs, ours] = [await trained(tensors), await trained(host)];
  expect(Math.max(...ours.deviations)).toBe(0);
  expect(ours.rewards).toEqual(theirs.rewards);
  for (const [name, { data }] of Object.entries(theirs.weights)) expectClose(ours.weights[name]!.data, data, 1e-3);
});

test('a step whose numbers are not finite changes nothing', async () => {
  const { actor } = networks({}, 5).host;
  const before = await actor.parameters.export();
  const states = randomStates(actor);
  const optimizer = adamWOf(actor.parameters);
  const step = optimizer.step(async (record) => {
    const { values, back } = await record(() => actor.score(states).logits());
    back(values.map(() => Infinity));
  }, 0.1);
  await expect(step).rejects.toBeInstanceOf(Diverged);
  expect(await actor.parameters.export()).toEqual(before);
});

test('goes back once, from the latest computation alone', () => {
  const { actor } = networks({}, 5).host;
  const states = randomStates(actor);
  const [first, second] = [actor.score(states).logits(), actor.score(states).logits()] as {
    values: Float32Array;
    back(grad: Float32Array): void;
  }[];
  expect(() => first!.back(first!.values.slice())).toThrow(/expected the latest computation/);
  expect(() => second!.back(second!.values.slice())).not.toThrow();
});
