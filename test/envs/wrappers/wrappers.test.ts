import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import {
  box,
  CartPole,
  checkEnv,
  discrete,
  type Env,
  Grid,
  MaskedBandit,
  normalized,
  Normalizer,
  recordEpisodeStatistics,
  timeLimit,
  vector,
  VectorEnv,
} from '../../../envs/index.js';

describe('a time limit', () => {
  test('cuts episodes, and only those that have not ended by then', () => {
    const env = timeLimit(new Grid(), 8);
    checkEnv(env, { refusals: true });
    const ends = (actions: number[]) => {
      env.reset();
      return actions.map((action) => env.step(action)).map(({ terminated, truncated }) => [terminated, truncated]);
    };
    expect(ends([0, 0, 0, 0, 0, 0, 0, 0]).at(-1)).toEqual([false, true]);
    expect(() => env.step(0)).toThrow('expected a running episode');
    expect(ends([1, 1, 1, 1, 2, 2, 2, 2]).at(-1)).toEqual([true, false]);
    expect(env.spec).toEqual({ id: 'kgwalk/Grid-v1', maxSteps: 8 });
    expect(() => timeLimit(new Grid(), 0)).toThrow('at least 1 step');
  });
});

describe('episode statistics', () => {
  test('are given in the last step of an episode, and restart with the next', () => {
    const env = recordEpisodeStatistics(new Grid());
    checkEnv(env, { refusals: true });
    for (const detour of [[], [0, 3]]) {
      env.reset();
      const infos = [...detour, 1, 1, 1, 1, 2, 2, 2, 2].map((action) => env.step(action).info);
      const length = 8 + detour.length;
      expect(infos.pop()).toEqual({ episode: { return: expect.closeTo(1 - 0.02 * (length - 1), 12), length } });
      expect(infos.every((info) => !('episode' in info))).toBe(true);
    }
  });
});

interface Recorded {
  settings: { gamma: number; clip_obs: number; clip_reward: number };
  raw: {
    /** [steps + what resets show, copies, numbers]. */
    observations: number[][][];
    rewards: number[][];
    ends: [step: number, copy: number, terminated: boolean][];
    steps: number;
  };
  normalized: { observations: number[][]; rewards?: number[]; final?: Record<string, number[]> }[];
  moments: Record<'observations' | 'returns', { mean: number | number[]; variance: number | number[]; count: number }>;
}

const recorded = JSON.parse(
  readFileSync(new URL('../../fixtures/vec-normalize.json', import.meta.url), 'utf8'),
) as Recorded;

/** Replays recorded observations and rewards, for any action. */
function scripted(copy: number): Env<Float32Array> {
  const { observations, rewards, ends, steps } = recorded.raw;
  const shown = (row: number) => Float32Array.from(observations[row]![copy]!);
  let at = 0;
  let resets = 0;
  return {
    spec: { id: 'recorded/Recorded-v1', maxSteps: 100 },
    actionSpace: discrete(2),
    observationSpace: vector(3),
    reset: () => ({ observation: shown(resets++ === 0 ? 0 : steps + resets - 1), info: {} }),
    step() {
      const end = ends.find(([step, who]) => step === at && who === copy);
      const reward = rewards[at]![copy]!;
      at++;
      return { observation: shown(at), reward, terminated: end?.[2] === true, truncated: end?.[2] === false, info: {} };
    },
    render: () => '',
    close: () => {},
  };
}

const close = (got: ArrayLike<number>, wanted: readonly number[]) => {
  expect(got.length).toBe(wanted.length);
  // There, batches of float32 observations are summed in float32.
  wanted.forEach((number, i) => expect(Math.abs(got[i]! - number)).toBeLessThan(1e-5 + 1e-6 * Math.abs(number)));
};

describe('a normalizer', () => {
  test('gives the numbers of Stable-Baselines3 for observations, last observations, rewards and statistics', () => {
    const { gamma, clip_obs, clip_reward } = recorded.settings;
    // There, each has a separate clip; here both runs share one, so each is compared by itself.
    for (const what of ['observations', 'rewards'] as const) {
      const clip = what === 'observations' ? clip_obs : clip_reward;
      const normalizer = new Normalizer(3, { gamma, clip });
      const envs = normalized(new VectorEnv([scripted(0), scripted(1)], 'sameStep'), normalizer);
      recorded.normalized.forEach(({ observations, rewards, final }, step) => {
        const result = step === 0 ? envs.reset() : envs.step([0, 0]);
        if (what === 'rewards') return rewards && close(result.rewards, rewards);
        result.observations.forEach((observation, copy) => close(observation, observations[copy]!));
        for (const [copy, last] of Object.entries(final ?? {})) {
          close((result.infos[Number(copy)]!.final as { observation: Float32Array }).observation, last);
        }
      });
      const { observations, returns } = normalizer.export();
      const flat = (number: number | number[]) => [number].flat();
      for (const [got, wanted] of [
        [observations!, recorded.moments.observations],
        [returns!, recorded.moments.returns],
      ] as const) {
        expect(got.count).toBeCloseTo(wanted.count, 8);
        close(got.mean, flat(wanted.mean));
        close(got.variance, flat(wanted.variance));
      }
    }
  });

  test('resumes bit for bit from its exported state, and does not change while frozen', () => {
    const copies = () => new VectorEnv([new CartPole(), new CartPole()], 'sameStep');
    const play = (normalizer: Normalizer, seed: number) => {
      const envs = normalized(copies(), normalizer);
      const steps = [envs.reset({ seed }), ...Array.from({ length: 60 }, (_, i) => envs.step([i & 1, 1]))];
      return steps.map(({ observations, rewards }) => [observations.map((one) => [...one]), [...rewards]]);
    };
    const first = new Normalizer(4);
    play(first, 1);
    const second = new Normalizer(4);
    second.import(JSON.parse(JSON.stringify(first.export())));
    expect(play(second, 5)).toEqual(play(first, 5));
    const before = first.export();
    first.frozen = true;
    expect(play(first, 9)).not.toEqual(play(new Normalizer(4), 9));
    expect(first.export()).toEqual(before);
  });

  test('leaves masks and excluded keys unchanged', () => {
    const bandits = () => new VectorEnv([new MaskedBandit(), new MaskedBandit()], 'sameStep');
    const [plain, rewardsAlone] = [bandits(), normalized(bandits(), new Normalizer(4, { observations: false }))];
    expect(rewardsAlone.observationSpace.form).toEqual(plain.observationSpace.form);
    const raw = plain.reset({ seed: 2 });
    expect(rewardsAlone.reset({ seed: 2 }).observations).toEqual(raw.observations);
    const both = normalized(bandits(), new Normalizer(4));
    const scaled = both.reset({ seed: 2 });
    expect(both.observationSpace.contains(scaled.observations[0])).toBe(true);
    expect(scaled.observations.map(({ actionMask }) => actionMask)).toEqual(
      raw.observations.map(({ actionMask }) => actionMask),
    );
    expect(scaled.observations[0]!.observation).not.toEqual(raw.observations[0]!.observation);
  });

  test('counts only the copies that stepped', () => {
    const normalizer = new Normalizer(25);
    const envs = normalized(new VectorEnv([new Grid({ maxSteps: 1 }), new Grid()]), normalizer);
    envs.reset();
    for (let step = 0; step < 4; step++) envs.step([0, 0]);
    // Two at the start, two after the first step, then the second copy alone.
    expect(normalizer.export().observations!.count).toBeCloseTo(7, 3);
    expect(normalizer.export().returns!.count).toBeCloseTo(5, 3);
  });

  test('refuses observations that are no vectors, and statistics of another width', () => {
    const wrong = new VectorEnv([new CartPole()]);
    expect(() => normalized(wrong, new Normalizer(3))).toThrow('vectors of 3 numbers');
    expect(() => new Normalizer(3).import(new Normalizer(4).export())).toThrow('statistics of 3 numbers');
    expect(() => new Normalizer(3).import({ observations: 'x' })).toThrow('got none');
    const nothing = new Normalizer(3);
    expect(() => nothing.import({ observations: { count: 1, mean: [0, 0, 0], variance: [1, 1] } })).toThrow();
    expect(nothing.export()).toEqual(new Normalizer(3).export());
  });

  test('its copies show what their space says', () => {
    const envs = normalized(new VectorEnv([new CartPole()]), new Normalizer(4, { clip: 2 }));
    expect(envs.observationSpace.form).toEqual(box([-2, -2, -2, -2], [2, 2, 2, 2]).form);
  });
});
