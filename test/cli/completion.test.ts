/** Shell completion. Runs the built program: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { commands } from '../../cli/commands.js';
import { completions } from '../../cli/completion.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { presetNames } from '../../src/run/locations.js';
import { kgwalk } from '../fixtures/command-line.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';

const program = new Command('kgwalk');
for (const register of commands) register(program);
const after = async (...words: string[]) => (await completions(program, words)).map(({ word }) => word);

describe('after', () => {
  test('kgwalk come its commands, without those that are hidden', async () => {
    const shown = program.createHelp().visibleCommands(program);
    expect(await after('')).toEqual(shown.map((command) => command.name()));
    expect(await after('tra')).toEqual(['train']);
    expect(await after('__')).toEqual([]);
  });

  test('a command come its own commands or what it takes', async () => {
    expect(await after('checkpoint', '')).toEqual(['list', 'show', 'export', 'import', 'help']);
    expect(await after('train', '')).toEqual(presetNames());
    expect(await after('train', 'opendialkg-t')).toEqual(['opendialkg-tiny']);
    expect(await after('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await after('train', 'opendialkg', '')).toEqual([]);
  });

  test('a dash come options, those of every command too, with what they do', async () => {
    expect(await after('train', 'opendialkg', '--run')).toEqual(['--run-dir']);
    expect(await after('doctor', '--')).toEqual(expect.arrayContaining(['--json', '--help', '--plugin']));
    const [json] = await completions(program, ['doctor', '--j']);
    expect(json).toEqual({ word: '--json', about: 'print JSON' });
  });

  test('an option comes its value, and then what the command takes', async () => {
    expect(await after('train', '--backend', 'was')).toEqual(['wasm']);
    expect(await after('train', '--backend', 'wasm', 'opendialkg-t')).toEqual(['opendialkg-tiny']);
    expect(await after('evaluate', '--model', 'de')).toEqual(['demo']);
  });

  test('every command of the program stands what can be asked without a fault', async () => {
    const pathsOf = (command: Command, path: string[] = []): string[][] =>
      [path].concat(command.commands.flatMap((inner) => pathsOf(inner, [...path, inner.name()])));
    for (const path of pathsOf(program)) {
      expect(Array.isArray(await after(...path, ''))).toBe(true);
      expect(await after(...path, '--hel')).toEqual(path[0] === '__complete' ? [] : ['--help']);
    }
  });
});

describe('bash, with the script that kgwalk prints', () => {
  const folder = folderWith({ 'notes.txt': '' });
  const place = join(folder, "an odd 'place' é");
  const main = join(place, 'dist', 'cli', 'main.js');

  beforeAll(async () => {
    mkdirSync(place);
    symlinkSync(resolve('dist'), join(place, 'dist'));
    env.KGWALK_HOME = folder;
    await importOpenDialKg({ from: folderWith(releaseFiles), name: 'village' });
    for (const run of ['first', 'second one']) {
      mkdirSync(join(folder, 'runs', run), { recursive: true });
      writeFileSync(join(folder, 'runs', run, 'config.yaml'), 'name: broken\n');
    }
  });

  let script: string;
  beforeAll(() => void (script = spawnSync(execPath, [main, 'completion', 'bash'], { encoding: 'utf8' }).stdout));

  /** The words that bash offers for the last one. */
  function offered(...words: string[]): string[] {
    const line = ['kgwalk', ...words].map((word) => `'${word}'`).join(' ');
    const ask = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _kgwalk; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const variables = { ...env, KGWALK_HOME: folder, KGWALK_RUNS: '' };
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', ask], {
      cwd: folder,
      env: variables,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return stdout.split('\n').filter(Boolean);
  }

  (spawnSync('bash', ['--version']).status === 0 ? test : test.skip)(
    'offers commands, presets, data sets and runs, from a folder with any name',
    () => {
      expect(offered('train', 'metaq')).toEqual(presetNames().filter((name) => name.startsWith('metaq')));
      expect(offered('evaluate', '--dataset', 'vil')).toEqual(['village']);
      expect(offered('report', 'runs/')).toEqual(['runs/first', 'runs/second one']);
      expect(offered('no-such-command', '')).toEqual([]);
    },
  );

  test.each(['zsh', 'fish'])('%s gets a script that asks the same program', async (shell) => {
    const { exitCode, out } = await kgwalk('completion', shell);
    expect(exitCode).toBe(0);
    expect(out).toContain("__complete' -- ");
  });

  test('another shell is refused', async () => expect((await kgwalk('completion', 'cmd')).exitCode).toBe(2));
});
