/** Dawn in a separate process: it must neither hold the process open nor change its exit status. */
import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { probeBackend } from '../../src/tensor/backend.js';

const probe = await probeBackend('webgpu');
if (!probe.found) console.warn(`skipped on webgpu: ${probe.reason}`);
const withDevice = probe.found ? test : test.skip;

const training = `
import { openBackend } from './dist/src/tensor/backend.js';
const { tf } = await openBackend('webgpu');
const product = tf.matMul(tf.ones([300, 300]), tf.ones([300, 300]));
console.log((await product.data())[7]);
`;

function run(end: string) {
  const words = ['--input-type=module', '-e', training + end];
  const { status, signal, stdout } = spawnSync(execPath, words, { encoding: 'utf8', timeout: 500_000 });
  return { status, signal, stdout: stdout.trim() };
}

withDevice.each([
  ['has no more to do', '', 0],
  ['still computes', 'void tf.square(product).data();', 0],
  ['is ended', 'tf.square(product).data(); process.exit(3);', 3],
  ['fails', 'throw new Error();', 1],
])('a program that %s ends with its own status', (_, end, status) => {
  expect(run(end)).toEqual({ status, signal: null, stdout: '300' });
});
