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

  longTest('the pole is balanced', async () => {
    const settings = { totalSteps: 40_000, learningRate: 1e-3, hidden: [32], seed: 1 };
    const { return: found, folder } = await trainPolicy({
      makeEnv: () => new CartPole(),
      settings,
      folder: newFolder(),
    });
    expect(found.value).toBeGreaterThan(475);
    expect((await evaluatePolicy(folder)).return.value).toBeGreaterThan(475);
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

  test.each([
    ['a reward that is no number', { reward: NaN }, /expected a finite reward, got NaN, at step 5 of copy \d/],
    [
      'an observation of another length',
      { observation: new Float32Array(3) },
      /expected an observation of its observationSpace, got 3 numbers instead of 25, at step 5/,
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
    await expect(trainPolicy({ ...run, onUpdate })).rejects.toMatchObject({ code: 'failure', message });
    expect(openRun(folder).state.status).toBe('failed');
    isBroken = false;
    const seen: number[] = [];
    await trainPolicy({ ...run, resume: true, onUpdate: ({ update }) => void seen.push(update) });
    expect(seen).toEqual([4, 5, 6, 7, 8]);
    expect(readFileSync(runFiles(folder).metrics, 'utf8').split('\n')).toHaveLength(8 + 1 + 1);
  });
});
