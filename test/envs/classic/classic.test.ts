import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import {
  CartPole,
  Grid,
  MaskedBandit,
  checkEnv,
  discrete,
  makeEnv,
  masked,
  vector,
  vectorLength,
} from '../../../envs/index.js';
import { Rng } from '../../../src/run/seeds.js';

describe('kgwalk/Grid-v1', () => {
  test('keeps the promises of an environment', () => {
    checkEnv(makeEnv('kgwalk/Grid-v1', {}), { refusals: true });
    checkEnv(makeEnv('kgwalk/Grid-v1', { size: 2, maxSteps: 3 }), { refusals: true });
  });

  test('pays 0.86 for the shortest walk, by value iteration the best return that there is', () => {
    const env = new Grid();
    const after = (cell: number, action: number) => {
      env.reset({ options: { cell } });
      const { observation, reward, terminated } = env.step(action);
      return { next: observation.indexOf(1), reward, terminated };
    };
    const values = new Float64Array(25);
    for (let sweep = 0; sweep < 30; sweep++) {
      for (let cell = 0; cell < 24; cell++) {
        values[cell] = Math.max(
          ...[0, 1, 2, 3].map((action) => {
            const { next, reward, terminated } = after(cell, action);
            return reward + (terminated ? 0 : values[next]!);
          }),
        );
      }
    }
    expect(values[0]).toBeCloseTo(0.86, 12);
    env.reset();
    const rewards = [1, 2, 1, 2, 1, 2, 1, 2].map((action) => env.step(action).reward);
    expect(rewards.reduce((sum, reward) => sum + reward)).toBeCloseTo(0.86, 12);
  });

  test('stays at the border and is cut after 50 steps', () => {
    const env = new Grid();
    env.reset();
    const results = Array.from({ length: 50 }, () => env.step(0));
    expect(results.every(({ observation, terminated }) => observation[0] === 1 && !terminated)).toBe(true);
    expect(results.map(({ truncated }) => truncated).indexOf(true)).toBe(49);
    expect(env.render()).toBe('step 50\no....\n.....\n.....\n.....\n....G');
  });
});

describe('kgwalk/MaskedBandit-v1', () => {
  test('keeps the promises of an environment', () => {
    checkEnv(makeEnv('kgwalk/MaskedBandit-v1', {}), { refusals: true, episodes: 10 });
  });

  test('pays what its card says: 8.900 to who pulls the best free arm, 5 to who pulls any', () => {
    const env = new MaskedBandit();
    const rng = new Rng(5);
    /** Mean return of 2,000 episodes. */
    const played = (choose: (pays: number[], mask: Uint8Array) => number) => {
      let sum = 0;
      let observation = env.reset({ seed: 3 }).observation;
      for (let pull = 0; pull < 20_000; pull++) {
        const context = observation.observation.indexOf(1);
        const pays = Array.from({ length: 10 }, (_, arm) => ((7 * arm + 3 * context) % 10) / 9);
        const result = env.step(choose(pays, observation.actionMask));
        sum += result.reward;
        observation = result.terminated ? env.reset().observation : result.observation;
      }
      return sum / 2000;
    };
    const best = played((pays, mask) => {
      const free = pays.map((pay, arm) => (mask[arm] ? pay : -1));
      return free.indexOf(Math.max(...free));
    });
    // Standard errors of these means are 0.01 and 0.03.
    expect(Math.abs(best - 8.9)).toBeLessThan(0.04);
    expect(Math.abs(played((_, mask) => env.actionSpace.sample(rng, mask)) - 5)).toBeLessThan(0.12);
  });

  test('reports the reward of the best free arm', () => {
    const env = new MaskedBandit({ pulls: 1 });
    const { observation } = env.reset({ seed: 8 });
    const arm = observation.actionMask.indexOf(1);
    const { reward, info, terminated } = env.step(arm);
    expect(terminated).toBe(true);
    expect(info.best).toBeGreaterThanOrEqual(reward);
  });
});

test('a mask of another length is no observation of a masked space', () => {
  const space = masked(vector(2), 3);
  const observation = Float32Array.of(1, 2);
  expect(space.contains({ observation, actionMask: Uint8Array.of(1, 0, 1) })).toBe(true);
  expect(space.contains({ observation, actionMask: Uint8Array.of(1, 0) })).toBe(false);
  expect(space.contains({ observation, actionMask: Uint8Array.of(1, 0, 2) })).toBe(false);
  expect(space.contains(observation)).toBe(false);
  expect([space, vector(2), discrete(2)].map(vectorLength)).toEqual([2, 2, undefined]);
});

interface Trajectory {
  start: number[];
  actions: string;
  terminated: boolean;
  /** By the number of steps done. */
  states: Record<string, number[]>;
}

const { episodes } = JSON.parse(readFileSync(new URL('../../fixtures/cart-pole.json', import.meta.url), 'utf8')) as {
  episodes: Trajectory[];
};

describe('kgwalk/CartPole-v1', () => {
  test('keeps the promises of an environment', () => {
    checkEnv(makeEnv('kgwalk/CartPole-v1', {}), { refusals: true, episodes: 20 });
  });

  test.each(episodes)(
    'goes through the states that Gymnasium’s goes through',
    ({ start, actions, terminated, states }) => {
      const env = new CartPole();
      env.reset({ options: { state: start } });
      let compared = 0;
      [...actions].forEach((action, i) => {
        const result = env.step(Number(action));
        const expected = states[i + 1];
        if (expected) {
          compared++;
          expected.forEach((number, k) => expect(result.observation[k]).toBeCloseTo(number, 5));
        }
        expect(result.reward).toBe(1);
        expect(result.terminated).toBe(terminated && i === actions.length - 1);
      });
      expect(compared).toBe(Object.keys(states).length);
    },
  );

  test('begins near the middle, elsewhere for another seed, and continues from its seed', () => {
    const env = new CartPole();
    const starts = [1, 2, undefined].map((seed) => [...env.reset(seed === undefined ? {} : { seed }).observation]);
    expect(starts.flat().every((number) => Math.abs(number) <= 0.05)).toBe(true);
    expect(new Set(starts.map(String)).size).toBe(3);
    expect([...env.reset({ seed: 1 }).observation]).toEqual(starts[0]);
  });

  test('is cut after 500 steps, and not before', () => {
    const env = new CartPole();
    let { observation } = env.reset({ seed: 4 });
    for (let step = 1; step <= 500; step++) {
      // Balances: pushes to where the pole leans and falls, and keeps the cart slow.
      const [x, velocity, angle, spin] = observation as unknown as [number, number, number, number];
      const result = env.step(Number(angle + 0.3 * spin + 0.02 * x + 0.05 * velocity > 0));
      expect([result.terminated, result.truncated]).toEqual([false, step === 500]);
      observation = result.observation;
    }
    expect(() => env.step(0)).toThrow(/Call reset|running episode/);
  });

  test('refuses a start that is no state', () => {
    const env = new CartPole();
    expect(() => env.reset({ options: { state: [0, 0, NaN, 0] } })).toThrow('expected a state of four finite numbers');
  });
});
