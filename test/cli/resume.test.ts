/** `kgwalk train --resume`: from which checkpoint, under which settings, and that the end is that of the unbroken run. */
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { readIndex } from '../../checkpoints/store.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import type { RunSettings } from '../../presets/index.js';
import { openRun } from '../../src/run/run-folder.js';
import { train } from '../../tasks/train.js';
import { kgwalk } from '../fixtures/command-line.js';
import { readEvents } from '../fixtures/event-files.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { rewriteConfig, runHashes, stopAt, tinySettings } from '../fixtures/tiny-training.js';

const previousHome = env.KGWALK_HOME;
const home = folderWith({});
const settings = tinySettings('log.tensorboard=true', 'checkpoint.keepEvery=1');
const unbroken = join(home, 'unbroken');
const stopped = join(home, 'stopped');
let copies = 0;

beforeAll(async () => {
  env.KGWALK_HOME = home;
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  await train({ settings, folder: unbroken });
  // After the third update, in the evaluation that the fourth owes.
  const stop = stopAt('evaluate on valid', 1, 4);
  await expect(train({ settings, folder: stopped, ...stop })).rejects.toMatchObject({ code: 'stopped' });
});

afterAll(() => {
  rmSync(home, { recursive: true });
  if (previousHome === undefined) delete env.KGWALK_HOME;
  else env.KGWALK_HOME = previousHome;
});

function copyOf(folder: string): string {
  const copy = join(home, `copy-${++copies}`);
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** Contents that equal runs share; events are left out since they hold the clock. */
const hashesOf = (folder: string) =>
  Object.fromEntries(Object.entries(runHashes(folder)).filter(([name]) => !name.startsWith('tensorboard')));

/** Tags, steps and values of all events, in the order TensorBoard reads them. */
const eventsOf = (folder: string) =>
  readdirSync(join(folder, 'tensorboard'))
    .sort()
    .flatMap((name) => readEvents(join(folder, 'tensorboard', name)))
    .map(({ time: _clock, ...scalar }) => scalar);

const resume = (folder: string, ...words: string[]) => kgwalk('train', '--resume', ...words, '--run-dir', folder);

describe('train --resume', () => {
  test.each([[], ['last'], ['best'], ['2'], ['ppo-000001'], ['clone-000003']])(
    '%s ends as the unbroken run, with every event once',
    async (...which) => {
      const folder = copyOf(stopped);
      const { exitCode, err } = await resume(folder, ...which);
      expect([exitCode, err]).toEqual([
        0,
        expect.stringMatching(new RegExp(`run ${folder}\\n[^]*texts encoded by hashed:32\\n`)),
      ]);
      expect(hashesOf(folder)).toEqual(hashesOf(unbroken));
      expect(eventsOf(folder)).toEqual(eventsOf(unbroken));
    },
  );

  test('from an earlier checkpoint may be stopped before it saves, and the last is then that one', async () => {
    const folder = copyOf(stopped);
    const again = train({ settings, folder, resume: '1', ...stopAt('encode messages', 0) });
    await expect(again).rejects.toMatchObject({ code: 'stopped' });
    expect(readIndex(folder).last!.name).toBe('ppo-000001');
    expect((await resume(folder)).exitCode).toBe(0);
    expect(hashesOf(folder)).toEqual(hashesOf(unbroken));
  });

  test('of a finished run does nothing, but for the lock of a process that was killed at its end', async () => {
    const before = runHashes(unbroken);
    // No process has this number.
    writeFileSync(join(unbroken, '.lock'), JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), born: '1' }));
    const { exitCode, err } = await resume(unbroken, 'best');
    expect([exitCode, err]).toEqual([0, expect.stringContaining('is finished; nothing to do')]);
    expect(runHashes(unbroken)).toEqual(before);
  });

  test('cuts a torn last line of the metrics and says so', async () => {
    const folder = copyOf(stopped);
    appendFileSync(join(folder, 'metrics.jsonl'), '{"phase": "pp');
    const { exitCode, err } = await resume(folder);
    expect([exitCode, err]).toEqual([0, expect.stringMatching(/metrics\.jsonl: cut off .+ \(13 bytes\)/)]);
    expect(hashesOf(folder)).toEqual(hashesOf(unbroken));
  });

  test('with other settings is refused, with both values of each, and the run stays as it is', async () => {
    const before = runHashes(stopped);
    const { exitCode, err } = await resume(stopped, 'last', '--set', 'ppo.clipRange=0.1', '--seed', '9');
    expect(exitCode).toBe(2);
    expect(err).toContain('ppo.clipRange: 0.2 in the run, 0.1 asked for\n  seed: 0 in the run, 9 asked for');
    expect(err).toMatch(/hint: .*--fork/);
    expect(runHashes(stopped)).toEqual(before);
  });

  test('with settings that change no weight resumes to the same weights', async () => {
    const folder = copyOf(stopped);
    const { exitCode } = await resume(folder, 'last', '--set', 'log.tensorboard=false', '--set', 'encoder.workers=2');
    expect(exitCode).toBe(0);
    const trained = (run: string) => [
      readCheckpoint(join(run, 'checkpoints/ppo-000004.safetensors')).tensors,
      readFileSync(join(run, 'metrics.jsonl'), 'utf8'),
    ];
    expect(trained(folder)).toEqual(trained(unbroken));
  });

  test('with other settings is refused of a finished run too', async () => {
    const { exitCode, err } = await resume(unbroken, 'last', '--set', 'ppo.updates=3');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('ppo.updates: 4 in the run, 3 asked for')]);
  });

  test('before the first checkpoint asks for the data and the model that the run was begun with', async () => {
    const folder = copyOf(stopped);
    rmSync(join(folder, 'checkpoints'), { recursive: true });
    const { exitCode, err } = await resume(folder, 'last', '--model', 'hashed:64');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('encoder.model: hashed:32 in the run, hashed:64')]);
    rewriteConfig(folder, (config) => ({ ...config, encoder: { ...config.encoder, model: 'hashed:64' } }));
    expect((await resume(folder)).err).toContain('expected a run of encoder hashed:64');
  });

  test('says the same settings again without harm', async () => {
    expect((await resume(copyOf(stopped), '--set', 'ppo.clipRange=0.2', '--seed', '0')).exitCode).toBe(0);
  });

  test('of a run of an earlier version takes the defaults of what that one lacks, and no other values', async () => {
    const folder = copyOf(stopped);
    const lacking = ({ relationWalker: _later, ppo: { feasibilityCoef: _new, ...ppo }, ...others }: RunSettings) => {
      return { ...others, ppo };
    };
    rewriteConfig(folder, lacking, false);
    const other = await resume(folder, 'last', '--set', 'ppo.feasibilityCoef=1');
    expect(other.err).toContain('ppo.feasibilityCoef: 0 in the run, 1 asked for');
    expect(await resume(folder)).toMatchObject({ exitCode: 0 });
    expect(openRun(folder).state.status).toBe('finished');
    const { 'config.yaml': _config, ...same } = hashesOf(unbroken);
    expect(hashesOf(folder)).toMatchObject(same);
  });

  test('of a metric log that is not the checkpoint’s leaves every checkpoint where it is', async () => {
    const folder = copyOf(stopped);
    writeFileSync(join(folder, 'metrics.jsonl'), '');
    const before = readIndex(folder);
    expect(await resume(folder, '1')).toMatchObject({
      exitCode: expect.any(Number),
      err: expect.stringContaining('metrics.jsonl'),
    });
    expect(readIndex(folder)).toEqual(before);
  });

  test('needs a folder, and a preset where there is no run in it', async () => {
    expect(await kgwalk('train', '--resume')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('--run-dir'),
    });
    const folder = join(home, 'typo');
    const nothing = await resume(folder);
    expect(nothing).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('expected a run to resume, got none'),
    });
  });

  test('resumes on the backend it was begun on, not on the first one available here', async () => {
    const folder = join(home, 'backend');
    const begun = train({ settings: tinySettings('backend=auto'), folder, ...stopAt('clone', 1) });
    await expect(begun).rejects.toMatchObject({ code: 'stopped' });
    const file = join(folder, 'environment.json');
    const environment = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...environment, backend: 'cpu' }));
    expect(await resume(folder)).toMatchObject({ exitCode: 0 });
    expect(openRun(folder).environment.resumed!.map(({ backend }) => backend)).toEqual(['cpu']);
  });
});
