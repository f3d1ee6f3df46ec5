import { chmodSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterEach, describe, expect, test } from '@jest/globals';
import * as core from '@tensorflow/tfjs-core';
import { WorkbenchError } from '../../../src/run/errors.js';
import {
  autoOrder,
  backendNames,
  backendOf,
  type NetworkSize,
  openBackend,
  probeBackend,
} from '../../../src/tensor/backend.js';
import { registerNativeTensorflow } from '../../../src/tensor/native-tensorflow.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const native = await probeBackend('tensorflow');
if (native.found) console.warn('skipped what holds without native TensorFlow: it is installed here');
const withoutNative = native.found ? test.skip : test;
const nativeFolder = env.KGWALK_NATIVE;
afterEach(() => {
  if (nativeFolder === undefined) delete env.KGWALK_NATIVE;
  else env.KGWALK_NATIVE = nativeFolder;
});

describe('the ladder of backends', () => {
  test('wasm and the plain backend are always found', async () => {
    for (const name of ['wasm', 'cpu'] as const) {
      expect(await probeBackend(name)).toEqual({ name, found: true, reason: 'trains a small net correctly' });
    }
  });

  test('a wanted backend becomes the active one', async () => {
    for (const name of ['cpu', 'wasm', 'cpu'] as const) {
      const opened = await openBackend(name);
      expect(opened.name).toBe(name);
      expect(opened.tf.getBackend()).toBe(name);
    }
  });

  test('a word is a rung, auto or a usage error', () => {
    expect([backendOf('wasm'), backendOf('host'), backendOf('auto')]).toEqual(['wasm', 'host', 'auto']);
    expect(() => backendOf('cuda')).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  test('auto takes the first rung that works', async () => {
    const { name, tf } = await openBackend();
    expect(name).toBe(native.found ? 'tensorflow' : 'wasm');
    expect(tf.getBackend()).toBe(name);
    expect(backendNames).toEqual(['tensorflow-gpu', 'tensorflow', 'wasm', 'cpu']);
  });

  test('native code that everybody may write is not loaded', async () => {
    const folder = folderWith({ 'tfjs_binding.node': 'anybody’s' });
    const addon = join(folder, 'tfjs_binding.node');
    env.KGWALK_NATIVE = folder;
    chmodSync(addon, 0o666);
    const probe = await probeBackend('tensorflow');
    chmodSync(addon, 0o644);
    const safe = await probeBackend('tensorflow');
    expect(probe).toMatchObject({ found: false, reason: expect.stringContaining(`got one of all, at ${addon}`) });
    expect(safe.reason).not.toContain('got one of all');
  });

  withoutNative('absent native TensorFlow says in one line that its native part is missing', async () => {
    expect(native.found).toBe(false);
    expect(native.reason).toContain('its native part is not installed');
    expect(native.reason).not.toContain('\n');
  });

  withoutNative('asking for a backend that is missing is an error that names it and a way out', async () => {
    const error = await openBackend('tensorflow').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkbenchError);
    const { code, exitCode, message, hint } = error as WorkbenchError;
    expect([code, exitCode]).toEqual(['native', 4]);
    expect(message).toContain('tensorflow: its native part is not installed');
    expect(hint).toContain('--backend wasm');
  });

  withoutNative('a rung that failed does no harm to the next', async () => {
    await openBackend('cpu');
    await probeBackend('tensorflow');
    const { tf } = await openBackend('wasm');
    expect(tf.tidy(() => tf.sum(tf.tensor1d([1, 2, 3])).dataSync()[0])).toBe(6);
  });

  test('a rung that computes wrong numbers is not taken', async () => {
    const { tf } = await openBackend('wasm');
    const right = tf.getKernel('Tanh', 'wasm')!;
    const { kernelFunc } = tf.getKernel('Sigmoid', 'wasm')!;
    tf.unregisterKernel('Tanh', 'wasm');
    tf.registerKernel({ ...right, kernelFunc });
    const probe = await probeBackend('wasm');
    tf.unregisterKernel('Tanh', 'wasm');
    tf.registerKernel(right);
    expect(probe).toMatchObject({ found: false, reason: expect.stringMatching(/^computes wrong numbers: the /) });
    expect(await probeBackend('wasm')).toMatchObject({ found: true });
  });

  test('probing leaves no tensor behind', async () => {
    const { tf } = await openBackend('cpu');
    const before = tf.memory().numTensors;
    await probeBackend('cpu');
    expect(tf.memory().numTensors).toBe(before);
  });
});

test('native TensorFlow finds the functions of node:util that Node 23 took away', () => {
  env.KGWALK_NATIVE = folderWith({});
  const util = createRequire(import.meta.url)('node:util') as Record<string, unknown>;
  const had = { isNullOrUndefined: util.isNullOrUndefined, isArray: util.isArray };
  delete util.isNullOrUndefined;
  delete util.isArray;
  try {
    registerNativeTensorflow(core as never);
  } catch {
    // Its native part is not installed.
  }
  const { isNullOrUndefined, isArray } = util as Record<string, (value: unknown) => boolean>;
  Object.assign(util, had);
  expect([null, undefined, 0, ''].map((value) => isNullOrUndefined!(value))).toEqual([true, true, false, false]);
  expect([[], {}].map((value) => isArray!(value))).toEqual([true, false]);
});

const plain = ['wasm', 'cpu'];
const host = ['host', ...plain, 'tensorflow'];
const sized = (rows: number, inputs: number, units: number, more: Partial<NetworkSize> = {}): NetworkSize => ({
  ...{ rows, inputs, units, ...more },
});
const onHost = { onHost: true };

test.each<[NetworkSize, string[], string, string]>([
  [sized(64, 128, 128), [...plain, 'tensorflow'], '1.0', 'where wasm is fastest'],
  [sized(128, 384, 128), ['tensorflow', 'tensorflow-gpu', ...plain], '6.3', 'too small for a GPU to pay'],
  [sized(100, 1024, 1024), [...backendNames], '105', 'where CUDA or native TensorFlow pays'],
  // Networks with SIMD kernels take them at any size; only graphics cards come before them.
  [sized(256, 256, 64, onHost), host, '4.2', 'where SIMD kernels without a library are fastest'],
  [sized(10_000, 256, 64, onHost), ['tensorflow-gpu', ...host], '164', 'where a GPU pays, else SIMD kernels'],
])('networks of the size %o take the first of %j', (size, names, millions, why) => {
  const product = `the largest product is ${size.rows} × ${size.inputs} × ${size.units}`;
  expect(autoOrder(size)).toEqual({ names, why: `${product}, ${millions} million multiply-adds, ${why}` });
});

test('networks without products of matrices are not measured by them', () => {
  expect(autoOrder(sized(1, 1, 1, onHost)).why).toBe(
    'no products of matrices, where SIMD kernels without a library are fastest',
  );
});

test('without a size all rungs are tried, those for large networks first', () => {
  expect(autoOrder().names).toEqual(backendNames);
});
