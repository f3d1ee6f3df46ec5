/** Memory that runs out in the middle of the built program: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { readIndex } from '../../checkpoints/store.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { openRun } from '../../src/run/run-folder.js';
import { kgwalk } from '../fixtures/command-line.js';
import { often, tally } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { runHashes, tinyOverrides } from '../fixtures/tiny-training.js';

useOwnHome();

const set = [...tinyOverrides, 'clone.epochs=12', 'ppo.updates=9', 'checkpoint.keepEvery=1'].flatMap((one) => [
  '--set',
  one,
]);

/** Runs the built program. @param flags of Node */
function program(words: readonly string[], flags: readonly string[]) {
  return spawnSync(execPath, [...flags, resolve('dist/cli/main.js'), ...words], { env, encoding: 'utf8' });
}

/** Node options that preload a module. */
const preload = (module: string) => ['--import', pathToFileURL(module).href];

/**
 * Writes what its process had resident at most, in kB, as it ends. Not `process.resourceUsage().maxRSS`, which a process
 * inherits from the one that started it: under jest that is the size of a worker.
 */
const measuring = (file: string) => `
  import { readFileSync, writeFileSync } from 'node:fs';
  process.on('exit', () => {
    const [, most] = /VmHWM:\\s+(\\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
    writeFileSync(${JSON.stringify(file)}, most);
  });
`;

const trainings = [
  ['questions', 'demo-questions', ['ppo.updates=1']],
  ['dialogues', 'demo', ['ppo.updates=2', 'clone.epochs=1']],
] as const;

test.each(trainings.slice(0, often(1, 2)))('512 MB are enough to train and evaluate on %s', async (_, preset, sets) => {
  const folder = folderWith({});
  const [module, peak, run] = [join(folder, 'measure.mjs'), join(folder, 'most'), join(folder, 'run')];
  writeFileSync(module, measuring(peak));
  const most = (...words: string[]) => {
    const { status, stderr } = program(words, preload(module));
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    return Number(readFileSync(peak, 'utf8'));
  };
  expect((await kgwalk('datasets', 'demo')).exitCode).toBe(0);
  expect(most('train', preset, ...sets.flatMap((one) => ['--set', one]), '--run-dir', run)).toBeLessThan(512e6 / 1024);
  expect(most('evaluate', run, '--split', 'valid')).toBeLessThan(512e6 / 1024);
});

/** Fills the memory of its process once `file` of the run is there, up to where the next step might not fit. */
const hungryOnce = (file: string) => `
  import { existsSync } from 'node:fs';
  import { getHeapSpaceStatistics } from 'node:v8';
  const old = () => getHeapSpaceStatistics().reduce((sum, { space_name: name, space_used_size: used }) =>
    name.startsWith('new_') ? sum : sum + used, 0);
  globalThis.held = [];
  setInterval(() => {
    if (!existsSync(${JSON.stringify(file)})) return;
    while (old() < 0.93 * 600 * 2 ** 20) globalThis.held.push(new Array(1e5).fill({}));
  }, 1).unref();
`;

test('a run that is nearly out of memory saves, names the settings to lower, and resumes with more memory', async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  const [whole, root] = [join(folderWith({}), 'run'), folderWith({})];
  const training = ['train', 'opendialkg-tiny', ...set, '--run-dir'];
  expect((await kgwalk(...training, whole)).exitCode).toBe(0);
  const moments = ['clone-000003', 'clone-000012', 'ppo-000002', 'ppo-000007'].slice(0, often(1, 4));
  for (const moment of moments) {
    const folder = join(root, moment);
    const hungry = join(root, `${moment}.mjs`);
    writeFileSync(hungry, hungryOnce(join(folder, `checkpoints/${moment}.safetensors`)));
    const flags = ['--max-old-space-size=600', ...preload(hungry)];
    const { status, stderr } = program([...training, folder], flags);
    expect(stderr).toContain('error: expected some JavaScript memory for the next step');
    expect(stderr).toMatch(/hint: Lower clone\.batchSize, ppo\.samplesPerUpdate or ppo\.minibatchSamples/);
    expect([status, openRun(folder).state.status]).toEqual([1, 'failed']);
    expect(readIndex(folder).last!.name >= moment).toBe(true);
    expect((await kgwalk('train', '--resume', '--run-dir', folder)).exitCode).toBe(0);
    expect(runHashes(folder)).toEqual(runHashes(whole));
    tally('faults injected');
  }
});
