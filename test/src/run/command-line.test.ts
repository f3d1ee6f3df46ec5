import { join } from 'node:path';
import { cwd } from 'node:process';
import { afterEach, expect, test } from '@jest/globals';
import { asCalled, commandLine, nameProgram, shellWord, shownPath } from '../../../src/run/command-line.js';

afterEach(() => nameProgram('/usr/bin/kgwalk', {}));

test('words are quoted as a shell wants them', () => {
  expect(['runs/a-1', 'ppo.clipRange=0.1', 'my project é/run', "it's", ''].map(shellWord)).toEqual([
    'runs/a-1',
    'ppo.clipRange=0.1',
    "'my project é/run'",
    "'it'\\''s'",
    "''",
  ]);
});

test('a path below the working folder is printed relative to it, any other as absolute', () => {
  expect(shownPath(join(cwd(), 'runs/farm'))).toBe('runs/farm');
  expect(shownPath(cwd())).toBe('.');
  expect(shownPath('/elsewhere/farm')).toBe('/elsewhere/farm');
});

test.each([
  ['from the path', '/usr/local/bin/kgwalk', {}, 'kgwalk'],
  ['through npx', '/opt/p/node_modules/.bin/kgwalk', { npm_command: 'exec' }, 'npx kgwalk'],
  ['from a clone', '/opt/kgwalk/dist/cli/main.js', {}, 'npx kgwalk'],
])('the program is called as it was: %s', (_, script, variables, name) => {
  nameProgram(script, variables);
  expect(commandLine('evaluate', 'my runs/farm')).toBe(`${name} evaluate 'my runs/farm'`);
  expect(asCalled('Runs: `kgwalk runs list`.\nGo on: kgwalk train --resume')).toBe(
    `Runs: \`${name} runs list\`.\nGo on: ${name} train --resume`,
  );
  expect(asCalled('a kgwalk checkpoint, at /tmp/kgwalk x')).toBe('a kgwalk checkpoint, at /tmp/kgwalk x');
});
