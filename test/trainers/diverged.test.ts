/** Steps with numbers that are not finite: the run fails with the step and a remedy, and its checkpoints stay as they were. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readIndex } from '../../checkpoints/store.js';
import type { RunSettings } from '../../presets/index.js';
import { openRun } from '../../src/run/run-folder.js';
import { train } from '../../tasks/train.js';
import { changeSaved } from '../fixtures/changed-checkpoint.js';
import { often } from '../fixtures/long-tests.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { runHashes, type Stop, stoppedRun, tinySettings } from '../fixtures/tiny-training.js';
import { filmSettings, importFilms } from '../fixtures/toy-question-training.js';

useReleaseHome();
const newFolder = () => join(folderWith({}), 'run');

/** Trains until it fails; returns message and hint. */
async function failureOf(folder: string, settings: RunSettings, resume?: string) {
  const error = await train({ settings, folder, resume }).then(
    () => Promise.reject(new Error('expected a failure')),
    (cause: Error & { hint?: string }) => cause,
  );
  const { status, reason } = openRun(folder).state;
  expect({ status, reason }).toEqual({ status: 'failed', reason: error.message });
  return { message: error.message, hint: error.hint };
}

/** A run that was stopped after some updates of a phase, with huge weights in its last checkpoint. */
async function poisonedRun(settings: RunSettings, tensor: string, ...stop: Stop): Promise<string> {
  const folder = await stoppedRun(settings, ...stop);
  changeSaved(folder, readIndex(folder).last!, ({ tensors }) => (tensors[tensor]!.data as Float32Array).fill(3e38));
  return folder;
}

test('in TransE', async () => {
  const { message, hint } = await failureOf(newFolder(), tinySettings('transe.margin=1e300'));
  expect(message).toMatch(/^expected finite .+, got (-?Infinity|NaN) at index 0, at transe epoch 1$/);
  expect(hint).toMatch(/^Lower transe\.learningRate or transe\.margin\. /);
});

test('in cloning, and again when the run is resumed; no checkpoint changes', async () => {
  const settings = tinySettings();
  const folder = await poisonedRun(settings, 'trunk.2', 'clone', 4);
  const failure = await failureOf(folder, settings, 'last');
  const before = runHashes(folder);
  expect(failure.message).toMatch(
    /^expected finite (logits|gradient of [\w.]+), got \S+ at index \d+, at clone step 5$/,
  );
  expect(failure.hint).toBe(
    'Lower clone.learningRate or clone.maxGradNorm. The checkpoints are intact, but resuming repeats the same step.',
  );
  expect(readIndex(folder).last!.name).toBe('clone-000004');
  expect(await failureOf(folder, settings, 'last')).toEqual(failure);
  expect(runHashes(folder)).toEqual(before);
});

const gradients: [name: string, overrides: string[]][] = [
  ['sampled, with a critic', ['ppo.baseline=critic']],
  ['sampled', []],
  ['exact', ['ppo.gradient=exact']],
];
test.each(gradients.slice(0, often(1, 3)))('in PPO, gradient %s', async (_, overrides) => {
  const folder = newFolder();
  // Weights without a gradient: 0 / (√0 + 0).
  const { message, hint } = await failureOf(folder, tinySettings('ppo.adamEpsilon=0', ...overrides));
  expect(message).toMatch(/^expected finite weight [\w.]+, got NaN at index \d+, at ppo update 1$/);
  expect(hint).toMatch(/^Raise ppo\.adamEpsilon above 0\. /);
  expect(readIndex(folder).last!.name).toBe('clone-000006');
});

test('in the rollout of a later update, and in the critic', async () => {
  const settings = tinySettings();
  const walked = await failureOf(await poisonedRun(settings, 'trunk.2', 'ppo', 1), settings, 'last');
  expect(walked.message).toMatch(/^expected finite logits, .+, at ppo update 2$/);
  const withCritic = tinySettings('ppo.baseline=critic');
  const folder = await poisonedRun(withCritic, 'critic.out.bias', 'ppo', 1);
  expect((await failureOf(folder, withCritic, 'last')).message).toMatch(/critic.+, at ppo update 2$/);
});

test('in PPO on questions', async () => {
  await importFilms();
  const { message } = await failureOf(newFolder(), filmSettings('ppo.adamEpsilon=0'));
  expect(message).toMatch(/, at ppo update 1$/);
});
