/** Trained policies that act, one observation at a time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { box, CartPole, discrete, Grid, MaskedBandit } from '../../../envs/index.js';
import { mlp } from '../../../src/nn/index.js';
import {
  evaluatePolicy,
  type LoadedPolicy,
  loadPolicy,
  type MakePolicy,
  trainPolicy,
} from '../../../tasks/trainers.js';
import { finishedRun } from '../../fixtures/finished-run.js';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'kgwalk-load-policy-'));
});
afterAll(() => rmSync(home, { recursive: true }));

const small = { totalSteps: 1024, numEnvs: 4, numSteps: 64, hidden: [16], evalEpisodes: 5, evalEvery: 4 };

/** Plays one episode by `act` alone. */
async function played(policy: LoadedPolicy, env: CartPole | MaskedBandit, seed: number) {
  let { observation } = env.reset({ seed }) as { observation: Float32Array };
  let [sum, length] = [0, 0];
  for (let ended = false; !ended; length++) {
    const step = env.step(await policy.act(observation));
    observation = step.observation as Float32Array;
    sum += step.reward;
    ended = step.terminated || step.truncated;
  }
  return { return: sum, length };
}

describe('act', () => {
  test('takes the actions that evaluatePolicy counts, on normalised observations', async () => {
    const folder = join(home, 'normalised');
    const settings = { ...small, normalizeObservation: true, seed: 2 };
    const trained = await trainPolicy({ makeEnv: () => new CartPole(), settings, folder });
    const { episodes } = await evaluatePolicy(trained, undefined, { episodes: 3 });
    const policy = await loadPolicy(folder);
    expect(policy.actions).toEqual({ n: 2, first: 0 });
    expect((await evaluatePolicy(policy, () => new CartPole(), { episodes: 3 })).episodes).toEqual(episodes);
    const seeds = (await import('../../../agents/policy/play.js')).episodeSeeds('test', 3);
    for (const [i, seed] of seeds.entries()) {
      expect(await played(policy, new CartPole(), seed)).toEqual({
        return: episodes[i]!.return,
        length: episodes[i]!.length,
      });
    }
    policy.close();
  });

  test('keeps to the mask, and samples by a seed', async () => {
    const folder = join(home, 'masked');
    await trainPolicy({ makeEnv: () => new MaskedBandit(), settings: small, folder });
    const policy = await loadPolicy(folder, { checkpoint: 'last' });
    const { observation, actionMask } = new MaskedBandit().reset({ seed: 4 }).observation;
    const legal = [...actionMask.keys()].filter((action) => actionMask[action] === 1);
    expect(legal.length).toBeLessThan(actionMask.length);
    const draw = (seed?: number) => policy.act({ observation, actionMask }, { deterministic: false, seed });
    const drawn = await Promise.all(Array.from({ length: 60 }, (_, seed) => draw(seed)));
    expect([...new Set(drawn)].sort()).toEqual(legal);
    expect(await Promise.all(Array.from({ length: 60 }, (_, seed) => draw(seed)))).toEqual(drawn);
    expect(new Set(await Promise.all(Array.from({ length: 60 }, () => draw()))).size).toBeGreaterThan(1);
    const lists = { observation: [...observation], actionMask: [...actionMask] };
    expect(await policy.act(lists)).toBe(await policy.act({ observation, actionMask }));
    policy.close();
  });

  test('numbers actions as an environment does that is not there', async () => {
    const folder = join(home, 'corridor');
    const makeEnv = () => {
      let at = 0;
      return {
        spec: { id: 'test/Corridor-v1', maxSteps: 8 },
        observationSpace: box([0], [1]),
        actionSpace: discrete(2, 1),
        reset: () => ((at = 0), { observation: Float32Array.of(0), info: {} }),
        step(action: number) {
          at++;
          const info = {};
          return {
            observation: Float32Array.of(at / 8),
            reward: action === 2 ? 1 : 0,
            terminated: at === 8,
            truncated: false,
            info,
          };
        },
        render: () => String(at),
        close() {},
      };
    };
    await trainPolicy({ makeEnv, settings: { ...small, learningRate: 0.01 }, folder });
    const policy = await loadPolicy(folder);
    expect(policy.actions).toEqual({ n: 2, first: 1 });
    expect(await policy.act([0.5])).toBe(2);
    policy.close();
  });

  test('of custom networks, which are given again', async () => {
    const custom: MakePolicy = ({ inputs, numActions }, seed) => {
      const scores = mlp({ name: 'scores', inputs, hidden: [], outputs: numActions, seed });
      return {
        actor: {
          parameters: scores.parameters,
          requestOf: (observation) => observation,
          numScores: () => numActions,
          score: (rows: Float32Array[]) => ({
            offsets: Int32Array.from({ length: rows.length + 1 }, (_, i) => i * numActions),
            logits: () => scores.outputs(rows),
          }),
          weightsChanged() {},
          dispose() {},
        },
      };
    };
    const folder = join(home, 'custom');
    const settings = { ...small, baseline: 'none' as const };
    await trainPolicy({ makeEnv: () => new Grid(), policy: custom, settings, folder });
    const policy = await loadPolicy(folder, { policy: custom });
    expect([0, 1, 2, 3]).toContain(await policy.act(new Grid().reset({ seed: 1 }).observation));
    await expect(loadPolicy(folder)).rejects.toMatchObject({ code: 'data' });
  });
});

describe('what does not fit is one error that says so', () => {
  let policy: LoadedPolicy;
  beforeAll(async () => {
    const folder = join(home, 'refusing');
    await trainPolicy({ makeEnv: () => new MaskedBandit(), settings: { ...small, totalSteps: 256 }, folder });
    policy = await loadPolicy(folder);
  });

  const fine = new MaskedBandit().reset({ seed: 0 }).observation;
  const none = fine.actionMask.map(() => 0);
  test.each<[string, unknown, object, RegExp]>([
    ['no observation', undefined, {}, /expected an observation of \d+ numbers with an actionMask of \d+, got/],
    ['no mask', [1, 2], {}, /with an actionMask/],
    ['another length', { ...fine, observation: [1] }, {}, /observation: expected \d+ numbers/],
    ['no number', { ...fine, observation: 'x' }, {}, /observation: /],
    ['nothing legal', { ...fine, actionMask: none }, {}, /actionMask: expected a legal action/],
    ['an unknown option', fine, { determinstic: true }, /options of act, got Unrecognized key: "determinstic"/],
  ])('%s', async (_, observation, options, message) => {
    const act = policy.act(observation as never, options);
    await expect(act).rejects.toMatchObject({ code: 'data', message: expect.stringMatching(message) });
  });

  test('runs of other kinds, and environments of another shape', async () => {
    await expect(evaluatePolicy(policy, () => new CartPole())).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/as the policy was trained in, got/),
    });
    process.env.KGWALK_HOME = home;
    const walker = await finishedRun('links');
    await expect(loadPolicy(walker)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/expected a policy over vectors, got a run of kgwalk\/LinkQuery-v1/),
    });
    await expect(loadPolicy(join(home, 'refusing'), { checkpint: 'last' } as never)).rejects.toMatchObject({
      message: expect.stringMatching(/did you mean checkpoint\?/),
    });
  });
});
