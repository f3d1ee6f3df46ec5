/** Ctrl-C on the built program: `npm test` builds it first. */
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readIndex } from '../../checkpoints/store.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { runSettings } from '../../presets/schema.js';
import { openRun } from '../../src/run/run-folder.js';
import { train } from '../../trainers/train.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { stopAt, tinyOverrides } from '../fixtures/tiny-training.js';

const home = folderWith({});
const previousHome = env.KGWALK_HOME;

beforeAll(async () => {
  env.KGWALK_HOME = home;
  await importOpenDialKg({ from: folderWith(releaseFiles) });
});

afterAll(() => {
  rmSync(home, { recursive: true });
  if (previousHome === undefined) delete env.KGWALK_HOME;
  else env.KGWALK_HOME = previousHome;
});

/** Starts a training run that would take hours. */
function start(folder: string) {
  const set = [...tinyOverrides, 'clone.epochs=1000'].flatMap((one) => ['--set', one]);
  const child = spawn(execPath, ['dist/cli/main.js', 'train', 'opendialkg-tiny', ...set, '--run-dir', folder], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr.on('data', (text) => (told += String(text)));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, told }));
  return { child, ended };
}

test('Ctrl-C ends training with 130 after saving, and says how to go on', async () => {
  const folder = resolve(home, 'run');
  const { child, ended } = start(folder);
  while (!existsSync(join(folder, 'checkpoints/index.json')) && child.exitCode === null) await setTimeout(20);
  child.kill('SIGINT');
  const { code, told } = await ended;
  expect(told).toContain('stopping after this step; press Ctrl-C again to stop at once');
  expect(told).toContain(`error: stopped; what was done is saved, at ${folder}`);
  expect(told).toContain(`hint: Go on: kgwalk train --resume --run-dir ${folder}`);
  expect(code).toBe(130);
  expect(openRun(folder).state).toMatchObject({ status: 'stopped', phase: 'clone' });
  expect(readIndex(folder).last!.step).toBeGreaterThanOrEqual(3);
});

test('a run that was killed reads as stopped, and another process may go on with it', async () => {
  const folder = resolve(home, 'killed');
  const { child, ended } = start(folder);
  while (!existsSync(join(folder, 'checkpoints/index.json')) && child.exitCode === null) await setTimeout(20);
  child.kill('SIGKILL');
  await ended;
  expect(openRun(folder).state.status).toBe('stopped');
  const { step } = readIndex(folder).last!;
  const settings = runSettings.parse(openRun(folder).config);
  const goingOn = train({ settings, folder, resume: 'last', ...stopAt('clone', step + 1) });
  await expect(goingOn).rejects.toMatchObject({ code: 'stopped' });
  expect(readIndex(folder).last!.step).toBeGreaterThan(step);
});
