import process from 'node:process';
import { expect, test } from '@jest/globals';
import { interruptSignal } from '../../cli/work.js';
import { WorkbenchError } from '../../src/run/errors.js';

test('the first Ctrl-C aborts the one signal of the process, which exits with 130', () => {
  const signal = interruptSignal();
  expect(interruptSignal()).toBe(signal);
  expect(signal.aborted).toBe(false);
  process.emit('SIGINT');
  expect(signal.aborted).toBe(true);
  expect(signal.reason).toBeInstanceOf(WorkbenchError);
  expect((signal.reason as WorkbenchError).exitCode).toBe(130);
});
