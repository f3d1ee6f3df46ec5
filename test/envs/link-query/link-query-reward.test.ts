import { describe, expect, test } from '@jest/globals';
import { linkQueryWorld, makeEnv, type LinkQueryObservation, type LinkQueryOptions } from '../../../envs/index.js';
import { probability, randomLinks } from '../../fixtures/random-links.js';

const id = 'kgwalk/LinkQuery-v1';
const { graph, queries } = randomLinks(12, 60);

describe('shaping of link queries', () => {
  const gamma = 0.9;

  /** Every legal walk of a query: its end, its reward in each step, and whether it hit. */
  function walksOf(options: Partial<LinkQueryOptions>, sample: number) {
    const env = makeEnv(id, { graph, queries, horizon: 2, ...options });
    const legal = ({ actionMask }: LinkQueryObservation) => [...actionMask.keys()].filter((i) => actionMask[i]);
    return legal(env.reset({ options: { sample } }).observation).flatMap((first) => {
      env.reset({ options: { sample } });
      return legal(env.step(first).observation).map((second) => {
        env.reset({ options: { sample } });
        const rewards = [env.step(first).reward];
        const end = env.step(second);
        return { end: end.observation.current, hit: end.info.hit, rewards: [...rewards, end.reward] };
      });
    });
  }

  test('terminal: pays a miss by the probability of the triple that it claims, and a hit as ever', () => {
    const walks = walksOf({ shaping: { kind: 'terminal', weight: 0.5, probability } }, 4);
    const [head, relation] = [queries.heads[4]!, queries.relations[4]!];
    expect(new Set(walks.map(({ hit }) => hit))).toEqual(new Set([true, false]));
    for (const { end, hit, rewards } of walks) {
      expect(hit).toBe(end === queries.tails[4]);
      expect(rewards).toEqual([0, hit ? 1 : 0.5 * probability(head, relation, end)]);
    }
  });

  test('potential: shifts the return of all walks of a query alike, so that the best stay the best', () => {
    const shaping = { kind: 'potential', weight: 2, gamma, probability } as const;
    for (const sample of [4, 9, 30]) {
      const start = 2 * probability(queries.heads[sample]!, queries.relations[sample]!, queries.heads[sample]!);
      const [plain, shaped] = [walksOf({}, sample), walksOf({ shaping }, sample)];
      expect(shaped.map(({ hit }) => hit)).toEqual(plain.map(({ hit }) => hit));
      const discounted = ({ rewards }: { rewards: number[] }) => rewards[0]! + gamma * rewards[1]!;
      shaped.forEach((walk, i) => expect(discounted(walk)).toBeCloseTo(discounted(plain[i]!) - start, 12));
      expect(new Set(shaped.map(({ rewards }) => rewards[0])).size).toBeGreaterThan(2);
    }
  });

  test('says what is wrong with it', () => {
    const shaping = { kind: 'terminal', weight: 1, probability } as const;
    const world = (more: object) => linkQueryWorld({ graph, queries, shaping: { ...shaping, ...more } });
    expect(() => world({ weight: -1 })).toThrow(/at least 0, got -1, at shaping.weight/);
    expect(() => world({ weight: Infinity })).toThrow(/got Infinity/);
    expect(() => world({ gamma: 1.1 })).toThrow(/from 0 to 1, got 1.1, at shaping.gamma/);
    const raw = { ...shaping, weight: 1, probability: () => 1.5 };
    const walk = () => walksOf({ shaping: raw }, 4);
    expect(walk).toThrow(/expected a probability from 0 to 1, got 1.5, at shaping of \(\d+, \d+, \d+\)/);
  });
});
