import { describe, expect, test } from '@jest/globals';
import { makeVectorEnv, type DialogueWalkObservation, type WalkRules } from '../../../envs/index.js';
import { pathKey } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { argmaxSegment, sampleSegment, segmentLogSoftmax } from '../../../src/tensor/categorical.js';
import { generalizedAdvantages, groupMeanAdvantages, normalizeAdvantages } from '../../../trainers/advantages.js';
import { ppoObjective } from '../../../trainers/ppo-loss.js';
import { RolloutBuffer } from '../../../trainers/rollout.js';
import { toyBandit, toyTwoHop, type ToyWorld } from '../../fixtures/toy-walks.js';

type Choose = (logProbs: Float32Array) => number;
interface State {
  key: string;
  size: number;
}

/** PPO with a table of logits and values, one row a state, and plain gradient steps: everything but the network. */
function trainTable(world: ToyWorld, rules: WalkRules, baseline: 'group-mean' | 'critic', seed: number) {
  const settings = {
    algorithm: 'ppo' as const,
    dualClip: null,
    clipRange: 0.2,
    clipRangeValue: null,
    entropyCoef: 0.01,
    valueCoef: 0.5,
    klCoef: 0,
    feasibilityCoef: 0,
  };
  const explorations = 8;
  const rng = Rng.named(seed, 'toy');
  const numEnvs = world.samples.length * explorations;
  const env = makeVectorEnv('kgwalk/OpenDialKG-v1', { ...world, rules }, numEnvs);
  const buffer = new RolloutBuffer<State>(numEnvs * rules.horizon);
  const logits = new Map<string, Float32Array>();
  const values = new Map<string, number>();
  const row = (key: string, size: number) => {
    if (!logits.has(key)) logits.set(key, new Float32Array(size));
    return logits.get(key)!;
  };
  const logProbsOf = (key: string, size: number) => segmentLogSoftmax(row(key, size), Int32Array.of(0, size));
  const keyOf = (observation: DialogueWalkObservation) => `${observation.task.id}|${pathKey(observation.path)}`;

  /** Walks every sample `explorations` times; returns the mean reward. */
  const collect = (choose: Choose) => {
    buffer.clear();
    const options = Array.from({ length: numEnvs }, (_, i) => ({ sample: Math.floor(i / explorations) }));
    let { observations, live } = env.reset({ options });
    const previous = new Int32Array(numEnvs).fill(-1);
    let reward = 0;
    while (live.length > 0) {
      const actions = new Int32Array(numEnvs);
      const steps = [...live].map((i) => {
        const key = keyOf(observations[i]!);
        const size = observations[i]!.actionMask.length;
        const logProbs = logProbsOf(key, size);
        actions[i] = choose(logProbs);
        return { i, key, size, logProb: logProbs[actions[i]!]!, value: values.get(key) ?? 0 };
      });
      const after = env.step(actions);
      for (const { i, key, size, logProb, value } of steps) {
        reward += after.rewards[i]! / numEnvs;
        previous[i] = buffer.add({
          state: buffer.stateIndex(key, () => ({ key, size })),
          sample: Math.floor(i / explorations),
          action: actions[i]!,
          logProb,
          value,
          reward: after.rewards[i]!,
          terminated: after.terminated[i] === 1,
          previous: previous[i]!,
        });
      }
      ({ observations, live } = after);
    }
    return reward;
  };

  const draw: Choose = (logProbs) => sampleSegment(logProbs, 0, logProbs.length, rng);
  const rewards: number[] = [];
  const firstDeviations: number[] = [];
  for (let update = 0; update < 60; update++) {
    rewards.push(collect(draw));
    buffer.setAdvantages(
      baseline === 'critic'
        ? generalizedAdvantages(buffer.rollout, 1, 0.95)
        : groupMeanAdvantages(buffer.rollout, buffer.samples, 1),
    );
    for (let epoch = 0; epoch < 3; epoch++) {
      for (const { states, transitions } of buffer.minibatches(world.samples.length, rng)) {
        normalizeAdvantages(transitions.advantage, baseline === 'critic');
        const rows = [...states].map((index) => buffer.states[index]!);
        const offsets = new Int32Array(rows.length + 1);
        rows.forEach(({ size }, s) => (offsets[s + 1] = offsets[s]! + size));
        const all = new Float32Array(offsets.at(-1)!);
        rows.forEach(({ key, size }, s) => all.set(row(key, size), offsets[s]!));
        const input = {
          logits: all,
          offsets,
          values: Float32Array.from(rows, ({ key }) => values.get(key) ?? 0),
          transitions,
        };
        const { dLogits, dValues, diagnostics } = ppoObjective(input, settings);
        if (epoch === 0) firstDeviations.push(diagnostics.maxRatioDeviation);
        rows.forEach(({ key, size }, s) => {
          const table = row(key, size);
          for (let a = 0; a < size; a++) table[a]! -= 5 * dLogits[offsets[s]! + a]!;
          values.set(key, (values.get(key) ?? 0) - dValues[s]!);
        });
      }
    }
  }
  return { rewards, firstDeviations, greedy: collect((logProbs) => argmaxSegment(logProbs, 0, logProbs.length)) };
}

const oneStep = { horizon: 1, equalAtStep1: false };
const twoSteps = { horizon: 2, equalAtStep1: false };
const mean = (numbers: number[]) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

describe('PPO with a table finds the optimum', () => {
  test.each(['group-mean', 'critic'] as const)('of a bandit, with baseline %s', (baseline) => {
    for (const seed of [1, 2]) {
      const { rewards, greedy, firstDeviations } = trainTable(toyBandit(), oneStep, baseline, seed);
      expect(greedy).toBeCloseTo(1, 12);
      expect(mean(rewards.slice(0, 3))).toBeLessThan(0.6);
      expect(mean(rewards.slice(-10))).toBeGreaterThan(0.9);
      expect(Math.max(...firstDeviations)).toBe(0);
    }
  });

  test.each(['group-mean', 'critic'] as const)('of a two-hop graph, with baseline %s', (baseline) => {
    for (const seed of [1, 2]) {
      const { rewards, greedy } = trainTable(toyTwoHop(), twoSteps, baseline, seed);
      expect(greedy).toBeCloseTo(1, 12);
      expect(mean(rewards.slice(0, 3))).toBeLessThan(0.3);
      expect(mean(rewards.slice(-10))).toBeGreaterThan(0.9);
    }
  });
});
