import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { WorkbenchError } from '../../../src/run/errors.js';
import { backendNames, backendOf, openBackend, probeBackend } from '../../../src/tensor/backend.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const native = await probeBackend('tensorflow');
if (native.found) console.warn('skipped what holds without native TensorFlow: it is installed here');
const withoutNative = native.found ? test.skip : test;

describe('the ladder of backends', () => {
  test('wasm and the plain backend are found wherever the package is installed', async () => {
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
    expect([backendOf('wasm'), backendOf('auto')]).toEqual(['wasm', 'auto']);
    expect(() => backendOf('cuda')).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  test('auto takes the first rung that works', async () => {
    const { name, tf } = await openBackend();
    expect(name).toBe(native.found ? 'tensorflow' : 'wasm');
    expect(tf.getBackend()).toBe(name);
    expect(backendNames).toEqual(['tensorflow-gpu', 'webgpu', 'tensorflow', 'wasm', 'cpu']);
  });

  test('native code that everybody may write is not loaded', async () => {
    const folder = folderWith({ 'tfjs_binding.node': 'anybody’s' });
    const addon = join(folder, 'tfjs_binding.node');
    const before = env.KGWALK_NATIVE;
    env.KGWALK_NATIVE = folder;
    chmodSync(addon, 0o666);
    const probe = await probeBackend('tensorflow');
    chmodSync(addon, 0o644);
    const safe = await probeBackend('tensorflow');
    if (before === undefined) delete env.KGWALK_NATIVE;
    else env.KGWALK_NATIVE = before;
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

  test('probing leaves no tensor behind', async () => {
    const { tf } = await openBackend('cpu');
    const before = tf.memory().numTensors;
    await probeBackend('cpu');
    expect(tf.memory().numTensors).toBe(before);
  });
});
