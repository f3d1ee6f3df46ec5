import { chmodSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterEach, describe, expect, test } from '@jest/globals';
import * as core from '@tensorflow/tfjs-core';
import { WorkbenchError } from '../../../src/run/errors.js';
import { autoOrder, executorOf, type NetworkSize, openExecutor, probeExecutor } from '../../../src/nn/open-executor.js';
import { registerNativeTensorflow } from '../../../src/nn/tfjs/native-tensorflow.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const native = await probeExecutor('tensorflow');
if (native.found) console.warn('skipped what holds without native TensorFlow: it is installed here');
const withoutNative = native.found ? test.skip : test;
const nativeFolder = env.KGWALK_NATIVE;
afterEach(() => {
  if (nativeFolder === undefined) delete env.KGWALK_NATIVE;
  else env.KGWALK_NATIVE = nativeFolder;
});

describe('executors', () => {
  test('SIMD kernels and wasm are always found', async () => {
    for (const name of ['simd', 'wasm'] as const) {
      expect(await probeExecutor(name)).toMatchObject({
        name,
        found: true,
        reason: 'trains a small network correctly',
      });
      expect((await openExecutor(name)).executor.name).toBe(name);
    }
  });

  test('a word is an executor, auto or a usage error', () => {
    expect([executorOf('wasm'), executorOf('simd'), executorOf('auto')]).toEqual(['wasm', 'simd', 'auto']);
    expect(() => executorOf('cuda')).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  test('networks with operations of SIMD kernels are refused to others', async () => {
    await expect(openExecutor('wasm', { ...sized(1, 1, 1), simdAlone: true })).rejects.toThrow(
      'expected the backend simd, which alone has the operations of these networks, got wasm',
    );
  });

  test('native code that everybody may write is not loaded', async () => {
    const folder = folderWith({ 'tfjs_binding.node': 'anybody’s' });
    const addon = join(folder, 'tfjs_binding.node');
    env.KGWALK_NATIVE = folder;
    chmodSync(addon, 0o666);
    const probe = await probeExecutor('tensorflow');
    chmodSync(addon, 0o644);
    const safe = await probeExecutor('tensorflow');
    expect(probe).toMatchObject({ found: false, reason: expect.stringContaining(`got one of all, at ${addon}`) });
    expect(safe.reason).not.toContain('got one of all');
  });

  withoutNative('absent native TensorFlow says in one line that its native part is missing', async () => {
    expect(native.found).toBe(false);
    expect(native.reason).toContain('its native part is not installed');
    expect(native.reason).not.toContain('\n');
  });

  withoutNative('asking for an executor that is missing is an error that names it and a way out', async () => {
    const error = await openExecutor('tensorflow').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkbenchError);
    const { code, exitCode, message, hint } = error as WorkbenchError;
    expect([code, exitCode]).toEqual(['native', 4]);
    expect(message).toContain('tensorflow: its native part is not installed');
    expect(hint).toContain('--backend simd');
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

const sized = (rows: number, inputs: number, units: number): NetworkSize => ({ rows, inputs, units });

test.each<[NetworkSize, string[], string]>([
  [sized(64, 128, 128), ['simd'], '1.0 million multiply-adds, where SIMD kernels are fastest'],
  [sized(128, 384, 128), ['simd'], '6.3 million multiply-adds, where SIMD kernels are fastest'],
  [
    sized(100, 1024, 1024),
    ['tensorflow-gpu', 'simd'],
    '105 million multiply-adds, where a GPU pays, else SIMD kernels',
  ],
])('networks of the size %o take the first of %j', (size, names, why) => {
  const product = `the largest product is ${size.rows} × ${size.inputs} × ${size.units}`;
  expect(autoOrder(size)).toEqual({ names, why: `${product}, ${why}` });
  expect(autoOrder({ ...size, simdAlone: true }).names).toEqual(['simd']);
});
