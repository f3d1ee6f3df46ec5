/** Ctrl-C on the built program: `npm test` builds it first. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { tableFromIPC } from 'apache-arrow';
import { readSafetensors } from '../../checkpoints/safetensors.js';
import { readIndex } from '../../checkpoints/store.js';
import { runSettings } from '../../presets/index.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { runFiles } from '../../src/run/run-files.js';
import { openRun } from '../../src/run/run-folder.js';
import { train } from '../../tasks/train.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { stopAt, tinyOverrides } from '../fixtures/tiny-training.js';

const home = useReleaseHome();

/** Starts a training run. @param settings with budgets of hours */
function start(folder: string, ...settings: string[]) {
  const set = [...tinyOverrides, ...settings].flatMap((one) => ['--set', one]);
  const child = spawn(execPath, ['dist/cli/main.js', 'train', 'opendialkg-tiny', ...set, '--run-dir', folder], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const heard = { err: '' };
  child.stderr.on('data', (text) => (heard.err += String(text)));
  const ended = once(child, 'close').then(([code]) => code as number);
  const until = async (seen: () => boolean) => {
    while (!seen() && child.exitCode === null) await setTimeout(20);
  };
  return { child, ended, heard, until };
}

const hasSaved = (folder: string) => () => existsSync(join(folder, 'checkpoints/index.json'));
const asked = 'stopping after this step; press Ctrl-C again to stop at once';

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends training with 130 after saving, and prints how to resume',
  async (signal) => {
    const folder = resolve(home(), signal);
    const { child, ended, heard, until } = start(folder, 'clone.epochs=1000');
    await until(hasSaved(folder));
    child.kill(signal);
    expect(await ended).toBe(130);
    expect(heard.err).toContain(asked);
    expect(heard.err).toMatch(/^stopped; everything so far is saved, at /m);
    expect(heard.err).toContain(`hint: Resume: npx kgwalk train --resume --run-dir ${folder}`);
    expect(openRun(folder).state).toMatchObject({ status: 'stopped', phase: 'clone' });
    expect(readIndex(folder).last!.step).toBeGreaterThanOrEqual(3);
    const { metrics, metricsArrow } = runFiles(folder);
    const figures = readMetrics(metrics).flatMap((record) => Object.keys(record.metrics));
    expect(tableFromIPC(readFileSync(metricsArrow)).numRows).toBe(figures.length);
  },
);

test('a second one ends training at once with 130, in the middle of an update, and leaves whole files', async () => {
  const folder = resolve(home(), 'twice');
  const long = ['ppo.samplesPerUpdate=1000', 'ppo.minibatchSamples=1', 'ppo.updateEpochs=100', 'clone.epochs=1'];
  const { child, ended, heard, until } = start(folder, ...long);
  await until(() => hasSaved(folder)() && readFileSync(runFiles(folder).state, 'utf8').includes('"phase": "ppo"'));
  child.kill('SIGINT');
  await until(() => heard.err.includes(asked));
  // Again and again: one that comes along with the first does not count.
  while (child.exitCode === null) {
    child.kill('SIGTERM');
    await setTimeout(50);
  }
  expect(await ended).toBe(130);
  expect(heard.err).not.toContain('everything so far is saved');

  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((name) => /\.\w+$/.test(name));
  expect(files.filter((name) => name.endsWith('.tmp'))).toEqual([]);
  for (const name of files.map((file) => join(folder, file))) {
    if (name.endsWith('.safetensors')) readSafetensors(name);
    else if (name.endsWith('.jsonl')) expect(readFileSync(name, 'utf8')).toMatch(/\n$|^$/);
    else if (name.endsWith('.json')) JSON.parse(readFileSync(name, 'utf8'));
  }
  expect(openRun(folder).state).toMatchObject({ status: 'stopped', phase: 'ppo' });
  const settings = runSettings.parse(openRun(folder).config);
  const goingOn = train({ settings, folder, resume: 'last', ...stopAt('encode messages', 0) });
  await expect(goingOn).rejects.toMatchObject({ code: 'stopped' });
  expect(readIndex(folder).last!.name).toBe('clone-000003');
});
