/** Runs the built program: `npm test` builds it first. Its home is a folder of the test: no command reads or changes that of the user. */
import { spawnSync } from 'node:child_process';
import { constants, accessSync } from 'node:fs';
import { execPath } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { useOwnHome } from '../fixtures/own-home.js';

useOwnHome();

const main = 'dist/cli/main.js';

function kgwalk(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(execPath, [main, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('the command line', () => {
  test('is an executable file', () => expect(() => accessSync(main, constants.X_OK)).not.toThrow());

  test('says in five lines what to type when called with nothing', () => {
    const { status, stdout, stderr } = kgwalk();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('doctor');
    expect(stdout.trimEnd().split('\n')).toHaveLength(5);
  });

  test('prints its version', () => expect(kgwalk('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/));

  test('exits with 2 on an unknown command, with the nearest name', () => {
    const { status, stdout, stderr } = kgwalk('docter');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('Did you mean doctor?');
  });

  test.each([
    [['runs', 'show'], 'error: expected list, verify, export, remove after runs, got "show"'],
    [
      ['datasets', 'show', 'demo'],
      'error: expected import, get, demo, list, stats, check, remove after datasets, got "show"',
    ],
  ])('names all sub-commands where one is unknown: %j', (words, message) => {
    const { status, stderr } = kgwalk(...words);
    expect([status, stderr.split('\n')[0]]).toEqual([2, message]);
  });

  test.each([
    ['-n 60', 'expected a limit of at least 512 open files, got 60'],
    ['-n 120', 'expected a limit of at least 512 open files, got 120'],
    ['-v 3000000', 'expected a limit of at least 4294967296 bytes of address space, got 3072000000'],
  ])('refuses a limit of the system, %s, before its modules are loaded', (limit, message) => {
    const under = (...words: string[]) =>
      spawnSync('bash', ['-c', `ulimit ${limit} && exec "$0" "$@"`, execPath, main, ...words], { encoding: 'utf8' });
    const { status, stderr } = under('runs', 'list');
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/^error: .+\nhint: Raise it.+\n$/) });
    expect(stderr).toContain(message);
    expect(JSON.parse(under('doctor', '--json').stderr)).toMatchObject({ error: { code: 'failure', message } });
  });

  test.each([
    ['20.20.2', 1, /^error: expected Node 22\.12 to 26, got 20\.20\.2\nhint: Install one of them.+\n$/],
    ['27.0.0', 0, /^$/],
  ])('refuses too old a Node with one error, and no newer one: %s', (version, status, stderr) => {
    const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
    const words = ['--import', `data:text/javascript,${code}`, main, '--version'];
    const ended = spawnSync(execPath, words, { encoding: 'utf8' });
    expect([ended.status, ended.stderr]).toEqual([status, expect.stringMatching(stderr)]);
  });

  test('puts wrong usage into JSON where JSON was asked for', () => {
    const { status, stderr } = kgwalk('doctor', '--json', '--nonsense');
    expect(status).toBe(2);
    expect(JSON.parse(stderr)).toEqual({ error: { code: 'usage', message: "unknown option '--nonsense'" } });
  });
});
