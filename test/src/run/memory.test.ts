import { expect, test } from '@jest/globals';
import { WorkbenchError } from '../../../src/run/errors.js';
import { mappedBytes, limitErrorOf } from '../../../src/run/stop.js';
import { thrownBy } from '../../fixtures/thrown.js';

test('pages of a mapped file are counted separately from the memory of the process', () => {
  expect(mappedBytes('VmRSS:\t    2156 kB\nRssAnon:\t     148 kB\nRssFile:\t    2008 kB\n')).toBe(2008 * 1024);
  expect(mappedBytes('another system')).toBe(0);
});

test.each([
  ['an array of numbers', () => new Float64Array(2 ** 40)],
  ['an array', () => new Array(-1)],
  ['a text', () => 'ab'.repeat(2 ** 30)],
  // As V8 says it; first it would collect all garbage, for seconds.
  ['a buffer', new RangeError('Array buffer allocation failed')],
  ['WebAssembly', new RangeError('WebAssembly.Memory.grow(): Maximum memory size exceeded')],
  ['tensors', new Error('OOM when allocating tensor with shape[9,9]')],
])('an allocation of %s that fails names the settings to lower', (_what, work) => {
  expect(limitErrorOf(typeof work === 'function' ? thrownBy(work) : work)).toMatchObject({
    code: 'failure',
    fatal: true,
    resumable: false,
    message: expect.stringContaining('expected enough memory for a step, got: '),
    hint: expect.stringMatching(/clone\.batchSize.*ppo\.minibatchSamples.*--max-old-space-size/),
  });
});

test.each([
  ['a module that is loaded', new Error("EMFILE: too many open files, open 'x.js'")],
  [
    'a part of the system, whose own hint is another',
    new WorkbenchError('native', 'no binary', { hint: 'Install it.', cause: new Error('ENFILE: file table overflow') }),
  ],
])('a file too many of %s names the limit to raise', (_what, error) => {
  expect(limitErrorOf(error)).toMatchObject({
    code: 'failure',
    fatal: true,
    hint: expect.stringContaining('ulimit -n'),
  });
});

test('any other error stays what it is', () => {
  for (const error of [new RangeError('Maximum call stack'), new WorkbenchError('data', 'out of memory'), 'text', null])
    expect(limitErrorOf(error)).toBe(error);
});
