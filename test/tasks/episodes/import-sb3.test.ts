import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { encodeSafetensors, type Tensor } from '../../../checkpoints/safetensors.js';
import { readIndex } from '../../../checkpoints/store.js';
import { openRun } from '../../../src/run/run-folder.js';
import { importSb3 } from '../../../tasks/episodes/import-sb3.js';
import { evaluatePolicy } from '../../../tasks/trainers.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const matrix = (rows: number, columns: number, ...ones: [row: number, column: number, value?: number][]): Tensor => {
  const data = new Float32Array(rows * columns);
  for (const [row, column, value = 1] of ones) data[row * columns + column] = value;
  return { shape: [rows, columns], data };
};
const zeros = (length: number): Tensor => ({ shape: [length], data: new Float32Array(length) });

/** On a grid of 2 × 2: to the right from the first cell, down from the second. Theirs lie [outputs, inputs]. */
const walker: Record<string, Tensor> = {
  'mlp_extractor.policy_net.0.weight': matrix(3, 4, [0, 0], [1, 1]),
  'mlp_extractor.policy_net.0.bias': zeros(3),
  'mlp_extractor.value_net.0.weight': matrix(5, 4),
  'mlp_extractor.value_net.0.bias': zeros(5),
  'action_net.weight': matrix(4, 3, [1, 0, 2], [2, 1]),
  'action_net.bias': zeros(4),
  'value_net.weight': matrix(1, 5),
  'value_net.bias': zeros(1),
};
const env = { id: 'kgwalk/Grid-v1', options: { size: 2 } };

function fileOf(tensors: Record<string, Tensor>, metadata: Record<string, string> = { activation: 'tanh' }): string {
  const file = join(folderWith({}), 'policy.safetensors');
  writeFileSync(
    file,
    encodeSafetensors({ tensors: new Map(Object.entries(tensors)), metadata: new Map(Object.entries(metadata)) }),
  );
  return file;
}
const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(walker).filter(([name]) => !names.includes(name)));

test('a policy is a finished run that plays as it did where it was trained', async () => {
  const folder = join(folderWith({}), 'run');
  // The best of two steps: the first costs 0.02, the second ends at the goal.
  expect(await importSb3({ file: fileOf(walker), env, folder })).toBeCloseTo(0.98, 6);
  expect(openRun(folder)).toMatchObject({ state: { status: 'finished' }, config: { env, policy: { hidden: [3] } } });
  expect(readIndex(folder).best!.metrics).toEqual({
    'eval/return': expect.closeTo(0.98, 6),
    'eval/length': expect.closeTo(2, 9),
  });
  expect((await evaluatePolicy(folder, undefined, { episodes: 3 })).return.value).toBeCloseTo(0.98, 6);
});

test('without hidden layers, too, and by the command line', async () => {
  const file = fileOf({ 'action_net.weight': matrix(4, 4, [1, 0], [2, 1]), 'action_net.bias': zeros(4) });
  const folder = join(folderWith({}), 'run');
  const words = ['checkpoint', 'import', 'sb3', file, '--env', env.id, '--option', 'size=2', '--run-dir', folder];
  expect(await kgwalkJson(...words)).toEqual({ run: folder, return: expect.closeTo(0.98, 6) });
});

test('the command that comes next can be pasted, also where the folder has a space', async () => {
  const folder = join(folderWith({}), 'my run');
  const { out, err } = await kgwalk(
    'checkpoint',
    'import',
    'sb3',
    fileOf(walker),
    '--env',
    env.id,
    '--option',
    'size=2',
    '--run-dir',
    folder,
  );
  expect(out).toBe(`${folder}\n`);
  expect(err).toContain(`kgwalk evaluate '${folder}' --split test`);
});

describe('is refused before anything is made:', () => {
  test.each<[string, Record<string, Tensor>, Record<string, string>, string]>([
    [
      'layers that are not said to be tanh',
      walker,
      {},
      'expected a policy with tanh layers, got a file that does not say',
    ],
    ['other layers', walker, { activation: 'relu' }, 'got relu'],
    [
      'no scores of actions',
      without('action_net.weight'),
      { activation: 'tanh' },
      'expected float32 weights and biases action_net',
    ],
    [
      'a bias of another length',
      { ...walker, 'action_net.bias': zeros(3) },
      { activation: 'tanh' },
      'biases action_net',
    ],
    [
      'layers that do not follow each other',
      { ...walker, 'action_net.weight': matrix(4, 2) },
      { activation: 'tanh' },
      'got 2 inputs of action_net after 3',
    ],
    [
      'a network of another kind',
      { ...walker, 'features_extractor.cnn.0.weight': zeros(1) },
      { activation: 'tanh' },
      'features_extractor',
    ],
    ['continuous actions', { ...walker, log_std: zeros(4) }, { activation: 'tanh' }, 'got log_std'],
    [
      'another environment',
      { ...walker, 'action_net.weight': matrix(5, 3), 'action_net.bias': zeros(5) },
      { activation: 'tanh' },
      'got one of 4 and 5',
    ],
    [
      'NaN',
      { ...walker, 'action_net.bias': { shape: [4], data: Float32Array.of(0, NaN, 0, 0) } },
      { activation: 'tanh' },
      'finite',
    ],
  ])('%s', async (_, tensors, metadata, message) => {
    const folder = join(folderWith({}), 'run');
    await expect(importSb3({ file: fileOf(tensors, metadata), env, folder })).rejects.toThrow(message);
    expect(existsSync(folder)).toBe(false);
  });
});
