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

const overfull = new Error('ENFILE: file table overflow');
test.each([
  ['a file too many of a module', new Error("EMFILE: too many open files, open 'x.js'"), 'ulimit -n'],
  [
    'one of a part with a hint of its own',
    new WorkbenchError('native', 'none', { hint: 'x', cause: overfull }),
    'ulimit -n',
  ],
  ['address space', new RangeError('WebAssembly.Memory(): could not allocate memory'), 'ulimit -v'],
])('%s names the limit to raise', (_what, error, command) => {
  const limited = limitErrorOf(error);
  expect(limitErrorOf(limited)).toBe(limited);
  expect(limited).toMatchObject({ code: 'failure', fatal: true, hint: expect.stringContaining(command) });
});

test('any other error stays what it is', () => {
  for (const error of [new RangeError('Maximum call stack'), new WorkbenchError('data', 'out of memory'), 'text', null])
    expect(limitErrorOf(error)).toBe(error);
});
