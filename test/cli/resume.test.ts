/** `kgwalk train --resume`: from which checkpoint, under which settings, and that the end is that of the unbroken run. */
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { readIndex } from '../../checkpoints/store.js';
import type { RunSettings } from '../../presets/index.js';
import { openRun } from '../../src/run/run-folder.js';
import { train } from '../../tasks/train.js';
import { kgwalk } from '../fixtures/command-line.js';
import { readEvents } from '../fixtures/event-files.js';
import { isLong } from '../fixtures/long-tests.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { rewriteConfig, runHashes, stopAt, stoppedRun, tinySettings } from '../fixtures/tiny-training.js';

const home = useReleaseHome();
const settings = tinySettings('log.tensorboard=true', 'checkpoint.keepEvery=1');
let unbroken: string;
let stopped: string;

beforeAll(async () => {
  unbroken = join(home(), 'unbroken');
  await train({ settings, folder: unbroken });
  // After the third update, in the evaluation that the fourth owes.
  stopped = await stoppedRun(settings, 'evaluate on valid', 1, 4);
});

function copyOf(folder: string): string {
  const copy = join(folderWith({}), 'run');
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** Tags, steps and values of all events, in the order TensorBoard reads them. */
const eventsOf = (folder: string) =>
  readdirSync(join(folder, 'tensorboard'))
    .sort()
    .flatMap((name) => readEvents(join(folder, 'tensorboard', name)))
    .map(({ time: _clock, ...scalar }) => scalar);

const resume = (folder: string, ...words: string[]) => kgwalk('train', '--resume', ...words, '--run-dir', folder);

describe('train --resume', () => {
  test.each([[], ['best'], ['clone-000003'], ...(isLong ? [['last'], ['2'], ['ppo-000001']] : [])])(
    '%s ends as the unbroken run, with every event once',
    async (...which) => {
      const folder = copyOf(stopped);
      const { exitCode, err } = await resume(folder, ...which);
      expect([exitCode, err]).toEqual([
        0,
        expect.stringMatching(new RegExp(`run ${folder}\\n[^]*texts encoded by hashed:32\\n`)),
      ]);
      expect(runHashes(folder)).toEqual(runHashes(unbroken));
      expect(eventsOf(folder)).toEqual(eventsOf(unbroken));
    },
  );

  test('from an earlier checkpoint may be stopped before it saves, and the last is then that one', async () => {
    const folder = copyOf(stopped);
    const again = train({ settings, folder, resume: '1', ...stopAt('encode messages', 0) });
    await expect(again).rejects.toMatchObject({ code: 'stopped' });
    expect(readIndex(folder).last!.name).toBe('ppo-000001');
    expect((await resume(folder)).exitCode).toBe(0);
    expect(runHashes(folder)).toEqual(runHashes(unbroken));
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
    expect(runHashes(folder)).toEqual(runHashes(unbroken));
  });

  test('with other settings is refused, with both values of each, and the run stays as it is', async () => {
    const before = runHashes(stopped);
    const { exitCode, err } = await resume(stopped, 'last', '--set', 'ppo.clipRange=0.1', '--seed', '9');
    expect(exitCode).toBe(2);
    expect(err).toContain('ppo.clipRange: 0.2 in the run, 0.1 asked for\n  seed: 0 in the run, 9 asked for');
    expect(err).toMatch(/hint: .*--fork/);
    expect(runHashes(stopped)).toEqual(before);
  });

  test('with the same settings, and others that change no weight, resumes to the same weights', async () => {
    const folder = copyOf(stopped);
    const other = ['log.tensorboard=false', 'encoder.workers=2'].flatMap((one) => ['--set', one]);
    const { exitCode } = await resume(folder, 'last', ...other, '--set', 'ppo.clipRange=0.2', '--seed', '0');
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
    const { 'config.yaml': _config, ...same } = runHashes(unbroken);
    expect(runHashes(folder)).toMatchObject(same);
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
    const nothing = await resume(join(home(), 'typo'));
    expect(nothing).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('expected a run to resume, got none'),
    });
  });

  test('resumes on the backend it was begun on, not on the first one available here', async () => {
    const folder = await stoppedRun(tinySettings('backend=auto', 'ppo.enabled=false'), 'clone', 1);
    const file = join(folder, 'environment.json');
    const environment = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...environment, backend: 'wasm' }));
    expect(await resume(folder)).toMatchObject({ exitCode: 0 });
    expect(openRun(folder).environment.resumed!.map(({ backend }) => backend)).toEqual(['wasm']);
  });
});
