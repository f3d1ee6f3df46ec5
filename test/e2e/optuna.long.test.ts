/** Optuna drives a sweep of the built program by the script of docs/sweeps.md: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { sweepIn, trialsOf } from '../../src/run/sweep.js';
import { examplesOf } from '../docs/examples.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { filmOverrides, importFilms } from '../fixtures/toy-question-training.js';

useOwnHome();

/** `KGWALK_TEST_PYTHON` names another Python, such as that of a virtual environment. */
const python = env.KGWALK_TEST_PYTHON ?? 'python3';
const hasOptuna = spawnSync(python, ['-c', 'import optuna']).status === 0;

(hasOptuna ? test : test.skip)(`Optuna samples and prunes trials (needs optuna in ${python})`, async () => {
  await importFilms();
  const [script] = examplesOf('docs/sweeps.md').filter(({ language }) => language === 'python');
  const settings = [...filmOverrides, 'ppo.updates=6', 'ppo.evalEvery=2'].flatMap((one) => ['--set', one]);
  const folder = join(env.KGWALK_HOME!, 'sweep');
  const words = [
    execPath,
    resolve('dist/cli/main.js'),
    'sweep',
    'metaqa',
    ...settings,
    '--ask-tell',
    '--run-dir',
    folder,
  ];
  const replaced = script!.text
    .replace(/\["npx", .*\],/, `${JSON.stringify(words)},`)
    .replace('n_trials=20', 'n_trials=6')
    .replace('n_startup_trials=4', 'n_startup_trials=1');
  expect(replaced).not.toContain('npx');
  const { status, stdout, stderr } = spawnSync(python, ['-c', replaced], { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, expect.stringContaining('Trial 5')]);
  const { record, events } = sweepIn(folder)!;
  const trials = trialsOf(record, events);
  expect(trials.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(trials.map(({ state }) => state)).not.toContain('failed');
  const best = Math.max(...trials.flatMap(({ state, value }) => (state === 'finished' ? value! : [])));
  expect(Number(stdout.split(' ')[0])).toBe(best);
  // What Optuna pruned is what was stopped, unless it had ended by then.
  const pruned = stderr.match(/Trial \d+ pruned/g)?.length ?? 0;
  expect(trials.filter(({ state }) => state === 'stopped')).toHaveLength(pruned);
  expect(readFileSync(join(folder, 'trial-001-s0', 'state.json'), 'utf8')).toContain('"status": "finished"');
});
