import { env } from 'node:process';
import { afterEach, expect, test } from '@jest/globals';
import { SimdExecutor } from '../../../../src/nn/simd/executor.js';
import { wrongInTrainingStep } from '../../../../src/nn/training-step.js';
import { openTfjs } from '../../../../src/nn/tfjs/open.js';
import { folderWith } from '../../../fixtures/tiny-release.js';

const nativeFolder = env.KGWALK_NATIVE;
afterEach(() => {
  if (nativeFolder === undefined) delete env.KGWALK_NATIVE;
  else env.KGWALK_NATIVE = nativeFolder;
});

test('an executor trains a small network correctly, and nothing is left of it', async () => {
  expect(await wrongInTrainingStep(new SimdExecutor())).toBeUndefined();
  const wasm = await openTfjs('wasm');
  const before = wasm.tf.memory().numTensors;
  expect(await wrongInTrainingStep(wasm)).toBeUndefined();
  expect(wasm.tf.memory().numTensors).toBe(before);
});

test('one that computes wrong numbers is found out, in any of its operations', async () => {
  const wasm = await openTfjs('wasm');
  const { tf } = wasm;
  for (const [name, other] of [
    ['Tanh', 'Sigmoid'],
    ['Sqrt', 'Relu'],
    ['Exp', 'Relu'],
  ] as const) {
    const right = tf.getKernel(name, 'wasm')!;
    const { kernelFunc } = tf.getKernel(other, 'wasm')!;
    tf.unregisterKernel(name, 'wasm');
    tf.registerKernel({ ...right, kernelFunc });
    const wrong = await wrongInTrainingStep(wasm);
    tf.unregisterKernel(name, 'wasm');
    tf.registerKernel(right);
    expect(wrong).toMatch(/^the (loss differs|weights "\w[\w.]*" differ) by |^expected finite /);
  }
  expect(await wrongInTrainingStep(wasm)).toBeUndefined();
});

test('one that failed to open does no harm to the next', async () => {
  env.KGWALK_NATIVE = folderWith({});
  await openTfjs('tensorflow-gpu').catch(() => undefined);
  const wasm = await openTfjs('wasm');
  expect(wasm.tf.tidy(() => wasm.tf.sum(wasm.tf.tensor1d([1, 2, 3])).dataSync()[0])).toBe(6);
});
