import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { CartPole, checkEnv, makeEnv } from '../../../envs/index.js';

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
    checkEnv(makeEnv('kgwalk/CartPole-v1', {}), { episodes: 20 });
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
