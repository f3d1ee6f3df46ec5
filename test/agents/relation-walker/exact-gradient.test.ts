/** The exact gradient over all walks of a question. */
import { describe, expect, test } from '@jest/globals';
import { expectedReward, WalkTreeTrainer, walkTrees } from '../../../agents/relation-walker/exact-gradient.js';
import { relationActor, type RelationRequest } from '../../../agents/relation-walker/network.js';
import { RelationWalkEnv, relationWalkWorld } from '../../../envs/relation-walk/relation-walk-env.js';
import { VectorEnv } from '../../../envs/vector-env.js';
import { segmentLogSoftmax } from '../../../src/nn/categorical.js';
import { Rng } from '../../../src/run/seeds.js';
import { nthLegal } from '../../../trainers/actor.js';
import { adamOf } from '../../../trainers/ppo-phase.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { actionDraw, collectRollouts, sampleOrder } from '../../../trainers/rollout.js';
import { RolloutBuffer } from '../../../trainers/rollout-buffer.js';
import { toyRelationWalker } from '../../fixtures/toy-relation-walker.js';

const { graph, samples, networkOf } = await toyRelationWalker();
const world = relationWalkWorld({ graph, samples, rules: { horizon: 3, hops: 'learned' }, reward: 'f1' });
const trees = walkTrees(world, [0, 3]);
const offsets = new Int32Array(trees.next.length + 1);
trees.next.forEach(({ length }, s) => (offsets[s + 1] = offsets[s]! + length));
const random = (name: string) => {
  const rng = Rng.named(5, name);
  return Float32Array.from({ length: offsets.at(-1)! }, () => rng.normal());
};

describe('the tree of walks', () => {
  test('has every state of the environment once, with the reward of each end', () => {
    const env = new RelationWalkEnv(world);
    let ends = 0;
    const walk = (sample: number, state: number, actions: number[]) => {
      const { mask, relations } = trees.states[state]!;
      for (let i = 0; i < trees.next[state]!.length; i++) {
        env.reset({ options: { sample } });
        let step;
        for (const action of [...actions, nthLegal(mask, i)]) step = env.step(action);
        const to = trees.next[state]![i]!;
        expect(step!.terminated).toBe(to < 0);
        if (to >= 0) {
          expect(trees.states[to]!.relations).toEqual(step!.observation.relations);
          expect(trees.states[to]!.mask).toEqual(step!.observation.actionMask);
          walk(sample, to, [...actions, nthLegal(mask, i)]);
        } else {
          ends++;
          expect(trees.rewards[state]![i]).toBe(step!.reward);
        }
      }
      expect(relations.length).toBe(actions.length);
    };
    [0, 3].forEach((sample, i) => walk(sample, trees.roots[i]!, []));
    expect(ends).toBe(trees.next.flatMap((next) => [...next]).filter((to) => to < 0).length);
    expect(new Set(trees.states.map(({ task, relations }) => `${task.id} ${relations.join()}`)).size).toBe(
      trees.states.length,
    );
  });

  test('is refused beyond 50,000 states', () => {
    const all = Array.from({ length: 20_000 }, () => 3);
    expect(() => walkTrees(world, all)).toThrow(/expected at most 50000 states in all walks of a round/);
  });
});

describe('the gradient', () => {
  const logits = random('logits');
  const near = segmentLogSoftmax(random('near'), offsets);
  const at = (x: Float32Array, weights: { klCoef: number; entropyCoef: number }) =>
    expectedReward(trees, segmentLogSoftmax(x, offsets), offsets, near, weights);
  const measured = (loss: (x: Float32Array) => number, place: number) => {
    const step = 1e-2;
    const moved = (by: number) => loss(logits.map((value, i) => (i === place ? value + by : value)));
    return (moved(step) - moved(-step)) / (2 * step);
  };

  test('is that of the expected reward', () => {
    const { gradient } = at(logits, { klCoef: 0, entropyCoef: 0 });
    for (let place = 0; place < logits.length; place += 3) {
      const expected = measured((x) => -at(x, { klCoef: 0, entropyCoef: 0 }).reward, place);
      expect(gradient[place]).toBeCloseTo(expected, 4);
    }
  });

  test('of KL and entropy counts the probabilities of states as constants', () => {
    const weights = { klCoef: 0.7, entropyCoef: 0.3 };
    const [whole, reward] = [at(logits, weights), at(logits, { klCoef: 0, entropyCoef: 0 })];
    // The last action of the last state that is reached leads nowhere else: no other state's probability hangs on it.
    const last = trees.next.findLastIndex((next) => next.every((to) => to < 0));
    for (let place = offsets[last]!; place < offsets[last + 1]!; place++) {
      const loss = (x: Float32Array) => {
        const { anchorKl, entropy } = at(x, weights);
        return 0.7 * anchorKl - 0.3 * entropy;
      };
      expect(whole.gradient[place]! - reward.gradient[place]!).toBeCloseTo(measured(loss, place), 4);
    }
  });
});

test('expects what walks on average bring, and raises it to the best', async () => {
  const actor = relationActor(networkOf(2));
  const settings = ppoSettings.parse({
    ...{ gradient: 'exact', klCoef: 0, updates: 80, warmupUpdates: 0, learningRate: 0.02, samplesPerUpdate: 8 },
    entropyCoef: 0.02,
    entropyDecay: 'linear',
  });
  const trainer = new WalkTreeTrainer({
    actor,
    optimizer: adamOf(actor.parameters, settings),
    settings,
    seed: 3,
    world,
  });
  const chosen = sampleOrder(world.walkable, 8, 3)(0);
  const envs = new VectorEnv(Array.from({ length: 8 * 250 }, () => new RelationWalkEnv(world)));
  const draw = actionDraw(Rng.named(1, 'walk'), { rate: 0, rng: Rng.named(1, 'drop') });
  const buffer = new RolloutBuffer<RelationRequest>(8 * 250 * 3);
  const walked = await collectRollouts(actor, undefined, envs, buffer, chosen, 250, draw);
  const { metrics } = await trainer.step(0);
  expect(Math.abs(metrics['rollout/reward']! - walked.reward)).toBeLessThan(0.04);
  let reward = 0;
  for (let update = 1; update < settings.updates; update++) {
    reward = (await trainer.step(update)).metrics['rollout/reward']!;
  }
  expect(reward).toBeGreaterThan(0.9);
});
