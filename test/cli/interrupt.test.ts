import process from 'node:process';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { interruptSignal } from '../../cli/terminal.js';
import { WorkbenchError } from '../../src/run/errors.js';

const exits: unknown[] = [];
let clock = 5000;

beforeAll(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => clock);
  jest.spyOn(process, 'exit').mockImplementation((code) => exits.push(code) as never);
});

afterAll(() => {
  jest.restoreAllMocks();
});

test('the first Ctrl-C aborts the one signal of the process, which exits with 130', () => {
  const signal = interruptSignal();
  expect(interruptSignal()).toBe(signal);
  expect(signal.aborted).toBe(false);
  process.emit('SIGINT');
  expect(signal.aborted).toBe(true);
  expect(signal.reason).toBeInstanceOf(WorkbenchError);
  expect((signal.reason as WorkbenchError).exitCode).toBe(130);
  expect(exits).toEqual([]);
});

test('what a supervisor sends along with the first is no second one; a second one ends the process', () => {
  clock += 250;
  process.emit('SIGINT');
  process.emit('SIGTERM');
  expect(exits).toEqual([]);
  clock += 100;
  process.emit('SIGINT');
  expect(exits).toEqual([130]);
});
