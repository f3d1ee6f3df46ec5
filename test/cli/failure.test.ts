import { describe, expect, test } from '@jest/globals';
import { CommanderError } from 'commander';
import { describeFailure } from '../../cli/output.js';
import { WorkbenchError } from '../../src/run/errors.js';

const missing = new WorkbenchError('data', 'expected a file, got nothing, at a.csv', { hint: 'Check the name.' });

describe('a failed command', () => {
  test('says what was wrong and what to do, and exits with the code of its kind', () => {
    expect(describeFailure(missing, false)).toEqual({
      exitCode: 3,
      text: 'error: expected a file, got nothing, at a.csv\nhint: Check the name.',
    });
  });

  test('is no error where a person stopped it', () => {
    expect(describeFailure(new WorkbenchError('stopped', 'stopped; saved', { hint: 'Resume: x' }), false)).toEqual({
      exitCode: 130,
      text: 'stopped; saved\nhint: Resume: x',
    });
  });

  test('speaks JSON to programs', () => {
    expect(JSON.parse(describeFailure(missing, true).text)).toEqual({
      error: { code: 'data', message: 'expected a file, got nothing, at a.csv', hint: 'Check the name.' },
    });
  });

  test('keeps the stack of a bug and exits with 1', () => {
    const { exitCode, text } = describeFailure(new TypeError('x is undefined'), false);
    expect(exitCode).toBe(1);
    expect(text).toContain('failure.test.ts');
  });

  test('says nothing secret, in the stack of a bug neither', () => {
    const bug = new TypeError('no answer from http://ada:secret@host/v1?key=secret');
    for (const json of [true, false]) expect(describeFailure(bug, json).text).not.toContain('secret');
    const quoted = new WorkbenchError('usage', 'got "--key=secret"', { hint: 'Not http://ada:secret" or "@b' });
    expect(JSON.parse(describeFailure(quoted, true).text)).toMatchObject({ error: { message: 'got "--key=***"' } });
  });

  test('exits with 2 on wrong usage and with 0 after help', () => {
    expect(describeFailure(new CommanderError(1, 'commander.unknownOption', ''), false)).toEqual({
      exitCode: 2,
      text: '',
    });
    expect(describeFailure(new CommanderError(0, 'commander.helpDisplayed', ''), false).exitCode).toBe(0);
  });
});
