import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CartPole, type Env, Grid, MaskedBandit, text, timeLimit } from '../../../envs/index.js';
import { readMetrics } from '../../../src/run/metric-log.js';
import { runFiles } from '../../../src/run/run-files.js';
import { openRun } from '../../../src/run/run-folder.js';
import { evaluatePolicy, trainPolicy } from '../../../tasks/trainers.js';
import { isLong, longTest } from '../../fixtures/long-tests.js';
import { runHashes, stopAt } from '../../fixtures/tiny-training.js';

let home: string;
let runs = 0;
const newFolder = () => join(home, `run-${++runs}`);

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'kgwalk-policy-'));
});
afterAll(() => rmSync(home, { recursive: true }));

/** Eight rounds. */
const small = { totalSteps: 2048, numEnvs: 4, numSteps: 64, hidden: [16], evalEpisodes: 5, evalEvery: 4 };

describe('known optima', () => {
  test('a grid of 5 × 5 is walked in 8 steps', async () => {
    const settings = { totalSteps: 6000, numEnvs: 8, numSteps: 32, hidden: [32], learningRate: 5e-3, seed: 1 };
    const { folder, return: found } = await trainPolicy({ makeEnv: () => new Grid(), settings, folder: newFolder() });
    expect(found.value).toBeCloseTo(0.86, 6);
    const { episodes } = await evaluatePolicy(folder, () => new Grid(), { episodes: 3 });
    expect(episodes).toEqual(Array(3).fill({ return: expect.closeTo(0.86, 6), length: 8, truncated: false }));
  });

  longTest('of the arms that are free the best one is pulled', async () => {
    const own = { totalSteps: 20_000, numSteps: 64, updateEpochs: 5, hidden: [32] };
    const settings = { ...own, learningRate: 3e-3, gamma: 0, seed: 1 };
    const folder = newFolder();
    await trainPolicy({ makeEnv: () => new MaskedBandit(), settings, folder });
    const found = await evaluatePolicy(folder, () => new MaskedBandit(), { episodes: 500 });
    expect(found.return.value).toBeGreaterThan(8.75);
  });

  longTest('the pole is balanced with each of five seeds', async () => {
    const own = { totalSteps: 20_000, numSteps: 64, minibatchSize: 128, updateEpochs: 6, hidden: [64, 64] };
    for (let seed = 0; seed < 5; seed++) {
      const settings = {
        ...own,
        learningRate: 3e-3,
        lrDecay: 'linear',
        evalEvery: 1000,
        evalEpisodes: 1,
        seed,
      } as const;
      const { folder } = await trainPolicy({ makeEnv: () => new CartPole(), settings, folder: newFolder() });
      const { return: found } = await evaluatePolicy(folder, undefined, { checkpoint: 'last', episodes: 100 });
      expect(found.value).toBeGreaterThan(475);
    }
  });
});

test('another executor computes the same policy, and is recorded', async () => {
  const settings = { ...small, totalSteps: 512, seed: 3 };
  const [plain, other] = [newFolder(), newFolder()];
  const makeEnv = () => new CartPole();
  const own = await trainPolicy({ makeEnv, settings, folder: plain });
  const same = await trainPolicy({ makeEnv, settings: { ...settings, backend: 'wasm' }, folder: other });
  expect(openRun(other).environment.backend).toBe('wasm');
  expect(same.return.value).toBeCloseTo(own.return.value, 6);
  const [expected, got] = [plain, other].map((folder) => readMetrics(runFiles(folder).metrics));
  expected!.forEach(({ metrics }, i) => {
    for (const [key, value] of Object.entries(metrics)) expect(got![i]!.metrics[key]).toBeCloseTo(value, 3);
  });
});

describe('a run that was stopped', () => {
  const normalized = { normalizeObservation: true, normalizeReward: true };
  test.each([
    ...(isLong ? ([['', {}]] as const) : []),
    [' with normalised observations and rewards', normalized],
  ] as const)('resumes to the same bytes, its episodes in the middle%s', async (_, normalize) => {
    const settings = { ...small, ...normalize, seed: 3 };
    const [unbroken, stopped] = [newFolder(), newFolder()];
    const makeEnv = () => new CartPole();
    await trainPolicy({ makeEnv, settings, folder: unbroken });
    const stopping = trainPolicy({ makeEnv, settings, folder: stopped, ...stopAt('ppo', 3) });
    await expect(stopping).rejects.toMatchObject({ code: 'stopped' });
    expect(openRun(stopped).state.status).toBe('stopped');
    await trainPolicy({ makeEnv, settings, folder: stopped, resume: true });
    expect(runHashes(stopped)).toEqual(runHashes(unbroken));
  });
});

describe('callbacks', () => {
  test('see every update and every record, and end training early', async () => {
    const [updates, steps]: [number[], number[]] = [[], []];
    const records: unknown[] = [];
    const folder = newFolder();
    await trainPolicy({
      makeEnv: () => new Grid(),
      settings: small,
      folder,
      onUpdate: ({ update, steps: made }) => (updates.push(update), steps.push(made), update === 3),
      onMetrics: (record) => void records.push(record),
    });
    expect(updates).toEqual([1, 2, 3]);
    expect(steps).toEqual([256, 256, 256]);
    expect(records).toEqual(readMetrics(runFiles(folder).metrics));
    expect(openRun(folder).state).toMatchObject({
      status: 'finished',
      reason: 'onUpdate ended training after update 3',
    });
  });
});

describe('what does not fit', () => {
  const refusal = async (makeEnv: () => Env<never>, settings: object = small) => {
    const folder = newFolder();
    const error = await trainPolicy({ makeEnv: makeEnv as never, settings, folder }).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(existsSync(folder)).toBe(false);
    return error;
  };

  test('is refused before a folder is made, naming what is missing', async () => {
    const wordy = () => Object.assign(new Grid(), { observationSpace: text() }) as unknown as Env<never>;
    expect(await refusal(wordy)).toMatchObject({
      code: 'config',
      message:
        'expected an observationSpace of vectors of one length (box or vector, alone or by masked), got text, at kgwalk/Grid-v1',
    });
    const spaceless = () => Object.assign(new Grid(), { actionSpace: undefined }) as unknown as Env<never>;
    expect(await refusal(spaceless)).toMatchObject({
      message: 'expected an actionSpace of discrete actions, got none of a known form, at kgwalk/Grid-v1',
    });
    const grid = () => new Grid() as unknown as Env<never>;
    expect(await refusal(grid, { n_steps: 128 })).toMatchObject({
      code: 'config',
      hint: expect.stringMatching(/numSteps/),
    });
    expect(await refusal(grid, { clipRange: -1 })).toMatchObject({ code: 'config', message: /clipRange/ });
    expect(await refusal(grid, { baseline: 'group-mean' })).toMatchObject({ message: /ppo.baseline=critic/ });
  });

  const grid = (change: object) => () => Object.assign(new Grid(), change);
  const shown = (observation: unknown) => ({ reset: () => ({ observation, info: {} }) });
  test.each<[what: string, options: object | undefined, message: RegExp]>([
    ['no options', undefined, /options of trainPolicy, got undefined/],
    ['no environment', {}, /makeEnv or env, got neither/],
    ['an option misspelt', { makeEnvs: grid({}) }, /unknown makeEnvs, did you mean makeEnv\?/],
    ['a folder without a name', { makeEnv: grid({}), folder: '' }, /got folder="" /],
    ['a callback that is none', { makeEnv: grid({}), onUpdate: 5 }, /got onUpdate=5 \(expected a function\)/],
    ['an environment for its maker', { makeEnv: new Grid() }, /got makeEnv=\{ .* \(expected a function\)/],
    ['a promise', { makeEnv: () => Promise.resolve(new Grid()) }, /an environment, got a Promise, at makeEnv/],
    ['a maker that throws', { makeEnv: () => BigInt('x') }, /an environment, got "Cannot convert x to a BigInt" when/],
    ['no reset', { makeEnv: grid({ reset: undefined }) }, /got reset=undefined \(expected a function\)/],
    ['no maxSteps', { makeEnv: grid({ spec: { id: 'a/B-v1' } }) }, /got spec.maxSteps=undefined \(expected number\)/],
    [
      'a wrong length',
      { makeEnv: grid(shown(new Float32Array(2))) },
      /25 float32 numbers, got Float32Array\(2\) \[0, 0\], at reset/,
    ],
    ['a plain array', { makeEnv: grid(shown([0])) }, /25 float32 numbers, got an array of 1, at reset/],
    [
      'a bare observation',
      { makeEnv: grid({ reset: () => new Float32Array(25) }) },
      /an object with an observation, got Float32Array/,
    ],
    [
      'a tuple',
      { makeEnv: grid({ step: () => [1, 2] }) },
      /an object with an observation, got an array of 2, at step 1/,
    ],
    ['an id misspelt', { env: 'kgwalk/Gird-v1' }, /known environment, got "kgwalk\/Gird-v1"/],
    [
      'walks over data',
      { env: 'kgwalk/LinkQuery-v1' },
      /environment of vectors, got kgwalk\/LinkQuery-v1, which walks links/,
    ],
    [
      'a setting misspelt',
      { makeEnv: grid({}), settings: { totalStep: 1 } },
      /unknown totalStep, did you mean totalSteps\?/,
    ],
    [
      'a setting out of range',
      { makeEnv: grid({}), settings: { numEnvs: 0 } },
      /\[1, 4096\], got 0, at settings of trainPolicy: policy.numEnvs/,
    ],
    ['networks without parts', { makeEnv: grid({}), policy: () => ({}) }, /got actor=undefined .* critic=undefined/],
  ])('is refused before a folder is made, in words of programs: %s', async (_, options, message) => {
    const folder = newFolder();
    const training = trainPolicy((options && { settings: small, folder, ...options }) as never);
    await expect(training).rejects.toMatchObject({ message: expect.stringMatching(message) });
    await expect(training).rejects.not.toMatchObject({ message: expect.stringMatching(/ --[a-z]/) });
    expect(existsSync(folder)).toBe(false);
  });

  test('of evaluatePolicy is refused', async () => {
    const evaluation = (...args: unknown[]) => (evaluatePolicy as (...args: unknown[]) => Promise<unknown>)(...args);
    for (const [args, message] of [
      [[undefined], /a run, a loaded policy or networks, got undefined/],
      [[{ actor: {} }, grid({})], /got actor.requestOf=undefined/],
      [[''], /the name or folder of a run, got ""/],
      [['x', grid({}), { episode: 2 }], /unknown episode, did you mean episodes\?/],
      [['x', grid({}), { episodes: 0 }], /got episodes=0 /],
    ] as const) {
      await expect(evaluation(...args)).rejects.toMatchObject({ message: expect.stringMatching(message) });
    }
  });

  test.each([
    ['a reward that is no number', { reward: NaN }, /expected a finite reward, got NaN, at step 5 of copy \d/],
    [
      'an observation of another length',
      { observation: new Float32Array(3) },
      /expected an observation of its observationSpace, 25 float32 numbers, got Float32Array\(3\) \[0, 0, 0\], at step 5/,
    ],
    ['no end', { terminated: false, truncated: false }, /expected an end within 12 steps, its spec.maxSteps, got none/],
  ])('breaks off with its place, and nothing is lost: %s', async (_, broken, message) => {
    const folder = newFolder();
    let isBroken = false;
    const makeEnv = () => {
      const grid = timeLimit(new Grid(), 12);
      let steps = 0;
      return {
        ...grid,
        reset: (how?: Parameters<typeof grid.reset>[0]) => ((steps = 0), grid.reset(how)),
        step(action: number) {
          const result = grid.step(action);
          steps++;
          const breaks = isBroken && (steps === 5 || 'truncated' in broken);
          return breaks ? { ...result, ...broken } : result;
        },
      };
    };
    const settings = { ...small, totalSteps: 1024, numSteps: 32, evalEvery: 8 };
    const run = { makeEnv, settings, folder };
    const onUpdate = ({ update }: { update: number }) => void (isBroken = update === 3);
    const hint = expect.stringMatching(/What was trained is saved up to update 3\./);
    await expect(trainPolicy({ ...run, onUpdate })).rejects.toMatchObject({ code: 'failure', message, hint });
    expect(openRun(folder).state.status).toBe('failed');
    isBroken = false;
    const seen: number[] = [];
    await trainPolicy({ ...run, resume: true, onUpdate: ({ update }) => void seen.push(update) });
    expect(seen).toEqual([4, 5, 6, 7, 8]);
    expect(readFileSync(runFiles(folder).metrics, 'utf8').split('\n')).toHaveLength(8 + 1 + 1);
  });
});
