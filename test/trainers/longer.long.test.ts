import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { Grid } from '../../envs/index.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { runFiles } from '../../src/run/run-files.js';
import { openRun } from '../../src/run/run-folder.js';
import { train } from '../../tasks/train.js';
import { trainPolicy } from '../../tasks/trainers.js';
import { isTrainedIn } from '../../trainers/resume.js';
import { trainSettings } from '../../agents/train-settings.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { tinySettings } from '../fixtures/tiny-training.js';

const home = useReleaseHome();

/** All that training left: every figure, and weights and optimizers at the end. */
function learned(folder: string) {
  const { header, tensors } = readCheckpoint(resolveCheckpoint(folder, 'last').file);
  return { metrics: readMetrics(runFiles(folder).metrics), step: header.step, trainer: header.trainer, tensors };
}

describe('a finished run that is trained for longer', () => {
  test('is what it would have been in one go, where no schedule depends on the end', async () => {
    const settings = (updates: number) => tinySettings('ppo.lrDecay=none', 'ppo.evalEvery=2', `ppo.updates=${updates}`);
    const [once, longer] = [join(home(), 'once'), join(home(), 'longer')];
    await train({ settings: settings(4), folder: once });
    await train({ settings: settings(2), folder: longer });
    expect(openRun(longer).state.status).toBe('finished');
    await train({ settings: settings(4), folder: longer, resume: 'last' });
    expect(learned(longer)).toEqual(learned(once));
    expect(openRun(longer)).toMatchObject({ state: { status: 'finished' }, config: { ppo: { updates: 4 } } });
  });

  test('resumes with its environments in the middle of episodes', async () => {
    const run = (folder: string, totalSteps: number) =>
      trainPolicy({
        makeEnv: () => new Grid(),
        settings: { totalSteps, numEnvs: 3, numSteps: 32, hidden: [8], evalEvery: 2, evalEpisodes: 2 },
        folder,
        resume: true,
      });
    const [once, longer] = [join(home(), 'policy-once'), join(home(), 'policy-longer')];
    await run(once, 6 * 96);
    await run(longer, 2 * 96);
    await run(longer, 6 * 96);
    expect(learned(longer)).toEqual(learned(once));
  });

  test('keeps its other settings, and is not made shorter', async () => {
    const folder = join(home(), 'kept');
    const settings = (...overrides: string[]) => tinySettings('ppo.updates=2', ...overrides);
    await train({ settings: settings(), folder });
    const again = (...overrides: string[]) => train({ settings: settings(...overrides), folder, resume: 'last' });
    await expect(again('ppo.updates=1')).rejects.toMatchObject({
      code: 'config',
      message: /2 in the run, 1 asked for/,
    });
    await expect(again('ppo.updates=3', 'ppo.clipRange=0.1')).rejects.toMatchObject({
      message: expect.stringMatching(/ppo\.clipRange: 0\.2 in the run, 0\.1 asked for$/),
    });
    expect(openRun(folder)).toMatchObject({ state: { status: 'finished' }, config: { ppo: { updates: 2 } } });
  });

  test('is read as it was where the process died before its settings were written', async () => {
    const folder = join(home(), 'died');
    await train({ settings: tinySettings('ppo.updates=2'), folder });
    const { environment, configHash } = openRun(folder);
    const begun = { ...environment, configHash: 'of the longer one', formerConfigHash: configHash };
    writeFileSync(runFiles(folder).environment, JSON.stringify(begun));
    expect(openRun(folder).config).toMatchObject({ ppo: { updates: 2 } });
    await train({ settings: tinySettings('ppo.updates=3'), folder, resume: 'last' });
    const after = openRun(folder);
    expect(after.environment.configHash).toBe(after.configHash);
    expect(after.environment).not.toHaveProperty('formerConfigHash');
  });
});

test.each([
  ['ppo', 5, true, true],
  ['ppo', 5, false, true],
  ['fit', 5, false, true],
  ['clone', 5, true, true],
  // Of a clone that was put there, and before the first step, nothing was trained.
  ['clone', 5, false, false],
  ['ppo', 0, true, false],
  ['clone', 0, true, false],
  ['ppo', 1, false, true],
] as const)(
  'a checkpoint of %s at step %d, cloning %j, was trained by the run itself: %j',
  (phase, step, enabled, own) => {
    const settings = trainSettings.parse({ clone: { enabled }, ppo: { init: 'scratch', klCoef: 0 } });
    expect(isTrainedIn(settings, { phase, step, metrics: {} })).toBe(own);
  },
);
