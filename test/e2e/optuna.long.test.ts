/** Optuna trains with the built program by the script of docs/how-to/sweeps.md: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { examplesOf } from '../docs/examples.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { filmOverrides, importFilms } from '../fixtures/toy-question-training.js';

useOwnHome();

/** `KGWALK_TEST_PYTHON` names another Python, such as that of a virtual environment. */
const python = env.KGWALK_TEST_PYTHON ?? 'python3';
const hasOptuna = spawnSync(python, ['-c', 'import optuna']).status === 0;

(hasOptuna ? test : test.skip)(`Optuna samples trials (needs optuna in ${python})`, async () => {
  await importFilms();
  const [script] = examplesOf('docs/how-to/sweeps.md').filter(({ language }) => language === 'python');
  const settings = [...filmOverrides, 'ppo.updates=6', 'ppo.evalEvery=2'].flatMap((one) => ['--set', one]);
  const words = [execPath, resolve('dist/cli/main.js'), 'train', 'metaqa', ...settings, '--json'];
  const replaced = script!.text
    .replace(/\["npx", .*"--json", /, `${JSON.stringify(words).slice(0, -1)}, `)
    .replace('n_trials=20', 'n_trials=3');
  expect(replaced).not.toContain('npx');
  const { status, stdout, stderr } = spawnSync(python, ['-c', replaced], { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, expect.stringContaining('Trial 2 finished')]);
  expect(Number(stdout.split(' ')[0])).toBeGreaterThan(0);
});
