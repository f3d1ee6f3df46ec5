import { createRequire } from 'node:module';
import { env } from 'node:process';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import * as tf from '@tensorflow/tfjs-core';
import { registerNativeTensorflow } from '../../../src/tensor/native-tensorflow.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const util = createRequire(import.meta.url)('node:util') as Record<string, unknown>;
const { isNullOrUndefined: had, isArray: hadToo } = util;
const native = env.KGWALK_NATIVE;

beforeEach(() => {
  env.KGWALK_NATIVE = folderWith({});
});

afterEach(() => {
  Object.assign(util, { isNullOrUndefined: had, isArray: hadToo });
  if (native === undefined) delete env.KGWALK_NATIVE;
  else env.KGWALK_NATIVE = native;
});

test('native TensorFlow finds the functions of node:util that Node 23 took away', () => {
  delete util.isNullOrUndefined;
  delete util.isArray;
  try {
    registerNativeTensorflow(tf as never);
  } catch {
    // Its native part is not installed.
  }
  const { isNullOrUndefined, isArray } = util as Record<string, (value: unknown) => boolean>;
  expect([null, undefined, 0, ''].map((value) => isNullOrUndefined!(value))).toEqual([true, true, false, false]);
  expect([[], {}].map((value) => isArray!(value))).toEqual([true, false]);
});
