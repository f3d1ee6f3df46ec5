import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { readIndex } from '../../checkpoints/store.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import type { RunSettings } from '../../presets/schema.js';
import { openRun } from '../../src/run/run-folder.js';
import { replayBatch, train } from '../../tasks/train.js';
import { changeCheckpoint, changeSaved } from '../fixtures/changed-checkpoint.js';
import { kgwalk } from '../fixtures/command-line.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { runHashes, stopAt, tinySettings } from '../fixtures/tiny-training.js';
import { filmSettings, importFilms } from '../fixtures/toy-question-training.js';

const previousHome = env.KGWALK_HOME;
let runs: string;
const made: string[] = [];
const newFolder = () => {
  made.push(join(runs, `run-${made.length}`));
  return made.at(-1)!;
};

beforeAll(async () => {
  runs = folderWith({});
  env.KGWALK_HOME = runs;
  await importOpenDialKg({ from: folderWith(releaseFiles) });
});

afterAll(() => {
  if (previousHome === undefined) delete env.KGWALK_HOME;
  else env.KGWALK_HOME = previousHome;
});

/** Trains to its failure. @returns its message and hint, and the files that it left in `replay/` */
async function failureOf(training: Promise<void>, folder: string) {
  const error = await training.then(
    () => Promise.reject(new Error('expected a failure')),
    (cause: Error & { hint?: string }) => cause,
  );
  const { status, reason } = openRun(folder).state;
  expect({ status, reason }).toEqual({ status: 'failed', reason: error.message });
  const files = readdirSync(join(folder, 'replay'));
  expect(error.hint).toContain(`kgwalk train --replay-batch ${join(folder, 'replay', files[0]!)}`);
  return { message: error.message, hint: error.hint!, files };
}

/** A run that was stopped after some updates of a phase. */
async function stoppedRun(settings: RunSettings, ...[phase, done, nth]: Parameters<typeof stopAt>): Promise<string> {
  const folder = newFolder();
  await expect(train({ settings, folder, ...stopAt(phase, done, nth) })).rejects.toMatchObject({ code: 'stopped' });
  return folder;
}

/** Makes numbers of the last checkpoint nearly as large as float32 holds, as if the run had saved it so. */
function poison(folder: string, tensor: string): void {
  changeSaved(folder, readIndex(folder).last!, ({ tensors }) => (tensors[tensor]!.data as Float32Array).fill(3e38));
}

describe('a step whose numbers are not finite stops the run, and is made again from its file', () => {
  test('in cloning, the last checkpoint being what it was; mended, the run goes on as if nothing had been', async () => {
    const settings = tinySettings();
    const unbroken = newFolder();
    await train({ settings, folder: unbroken });
    const folder = await stoppedRun(settings, 'clone', 4, 2);
    const sound = join(runs, 'sound');
    cpSync(join(folder, 'checkpoints'), sound, { recursive: true });
    poison(folder, 'trunk.2');
    const poisoned = runHashes(folder)['checkpoints/clone-000004.safetensors'];
    const { message, hint, files } = await failureOf(train({ settings, folder, resume: 'last' }), folder);
    expect(message).toMatch(/^expected finite (logits|gradient of [\w.]+), got \S+ at index \d+, at clone step 5; /);
    expect(hint).toMatch(/^Lower clone\.learningRate or clone\.maxGradNorm\. /);
    expect(files).toEqual(['clone-000005.safetensors']);
    expect(readIndex(folder).last!.name).toBe('clone-000004');
    expect(runHashes(folder)['checkpoints/clone-000004.safetensors']).toBe(poisoned);

    const before = runHashes(folder);
    const file = join(folder, 'replay/clone-000005.safetensors');
    const replay = await replayBatch({ file, settings, folder });
    expect(replay).toMatchObject({ phase: 'clone', same: true });
    expect(replay.seen).toEqual(replay.recorded);
    expect(replay.seen!.samples).toHaveLength(1);
    expect(runHashes(folder)).toEqual(before);

    // The same batch under sound weights is finite: the file holds weights and batch, not a verdict.
    const { tensors } = readCheckpoint(join(sound, 'clone-000004.safetensors'));
    changeCheckpoint(file, (saved) => Object.assign(saved, { tensors }));
    const finite = await replayBatch({ file, settings, folder });
    expect(finite).toMatchObject({ same: false, figures: { 'train/loss': expect.any(Number) } });
    expect(finite.seen).toBeUndefined();

    cpSync(sound, join(folder, 'checkpoints'), { recursive: true });
    await train({ settings, folder, resume: 'last' });
    rmSync(join(folder, 'replay'), { recursive: true });
    expect(runHashes(folder)).toEqual(runHashes(unbroken));
  });

  test.each([
    ['sampled', [], 'weight'],
    ['sampled, with a critic', ['ppo.baseline=critic'], 'weight'],
    ['exact', ['ppo.gradient=exact'], 'weight'],
  ])('in PPO, gradient %s', async (_, overrides, what) => {
    const folder = newFolder();
    // Weights without a gradient: 0 / (√0 + 0).
    const settings = tinySettings('ppo.adamEpsilon=0', ...overrides);
    const { message, hint, files } = await failureOf(train({ settings, folder }), folder);
    expect(message).toMatch(new RegExp(`^expected finite ${what} [\\w.]+, got NaN at index \\d+, at ppo update 1`));
    expect(hint).toMatch(/^Raise ppo\.adamEpsilon above 0\. /);
    expect(readIndex(folder).last!.name).toBe('clone-000006');
    const replay = await replayBatch({ file: join(folder, 'replay', files[0]!), settings, folder });
    expect(replay.seen).toEqual(replay.recorded);
    expect(replay).toMatchObject({ phase: 'ppo', same: true, recorded: { first: { value: 'NaN' } } });
    expect(Number(replay.seen!.loss)).not.toBeNaN();
    expect(replay.seen!.samples!.length).toBeGreaterThan(0);
    for (const { loss } of replay.seen!.samples!) expect(Number(loss)).not.toBeNaN();
  });

  test('in the walks of a later update', async () => {
    const settings = tinySettings();
    const folder = await stoppedRun(settings, 'ppo', 1);
    poison(folder, 'trunk.2');
    const { message, files } = await failureOf(train({ settings, folder, resume: 'last' }), folder);
    expect(message).toMatch(/, at ppo update 2; /);
    const replay = await replayBatch({ file: join(folder, 'replay', files[0]!), settings, folder });
    expect(replay).toMatchObject({ same: true, seen: { first: { tensor: 'logits' } } });
  });

  test('in the critic', async () => {
    const settings = tinySettings('ppo.baseline=critic');
    const folder = await stoppedRun(settings, 'ppo', 1);
    poison(folder, 'critic.out.bias');
    const { files } = await failureOf(train({ settings, folder, resume: 'last' }), folder);
    expect(files).toEqual(['ppo-000002-000001-000001.safetensors']);
    const replay = await replayBatch({ file: join(folder, 'replay', files[0]!), settings, folder });
    expect(replay.same).toBe(true);
    expect(replay.seen!.first.tensor).toMatch(/critic/);
  });

  test('in PPO on questions, and the command shows it', async () => {
    await importFilms();
    const folder = newFolder();
    const settings = filmSettings('ppo.adamEpsilon=0');
    const { files } = await failureOf(train({ settings, folder }), folder);
    expect(files).toEqual(['ppo-000001-000001-000001.safetensors']);
    const file = join(folder, 'replay', files[0]!);
    expect(await replayBatch({ file, settings, folder })).toMatchObject({ same: true });
    const { told, out } = await kgwalk('train', '--replay-batch', file);
    expect(told).toBe('');
    expect(out).toContain('ppo update 1, epoch 1, minibatch 1, on wasm');
    expect(out).toMatch(/weight \S+\[\d+\] = NaN/);
    expect(out).toContain('the same, bit by bit');
    expect(out).toMatch(/loss of each sample:\n( +-?\d\S* {2}t\d-\d-.+\n)+$/);
  });
});

describe('a file is refused', () => {
  test('that is a checkpoint, or of a run under other settings', async () => {
    const settings = tinySettings();
    const folder = await stoppedRun(settings, 'clone', 3);
    const { file } = readIndex(folder).last!;
    await expect(replayBatch({ file, settings, folder })).rejects.toMatchObject({
      code: 'data',
      message: expect.stringContaining('expected a step that diverged, got the checkpoint clone 3'),
    });
    changeCheckpoint(file, ({ header }) => (header.trainer.diverged = { place: {}, first: {} }));
    await expect(replayBatch({ file, settings, folder })).rejects.toMatchObject({
      code: 'data',
      message: expect.stringContaining('expected the record of a step that diverged'),
    });
    const first = { tensor: 'loss', index: 0, value: 'NaN' };
    changeCheckpoint(file, ({ header }) => (header.trainer.diverged = { place: { step: 4 }, first }));
    const others = tinySettings('clone.learningRate=0.5');
    await expect(replayBatch({ file, settings: others, folder })).rejects.toMatchObject({
      code: 'data',
      message: expect.stringContaining('expected a step of this run'),
    });
  });
});
