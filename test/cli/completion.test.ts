/** Shell completion. Runs the built program: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { commands } from '../../cli/commands.js';
import { completions } from '../../cli/completion.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { presetNames } from '../../src/run/locations.js';
import { executorNames } from '../../src/nn/open-executor.js';
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

  test.each([
    [['evaluate', '--agent', 'templ'], ['template-lookup']],
    [['compare', 'random', 'fisk'], ['fiske']],
    [['train', '--set', 'ppo.clipRangeV'], ['ppo.clipRangeValue']],
    [['evaluate', '--set', 'ppo.'], []],
    [['ask', '--set', 'statef'], ['stateful']],
    [['config', 'explain', 'ppo.gam'], ['ppo.gamma']],
    [['config', 'show', '--set', 'ppo.gam'], ['ppo.gamma']],
    [['serve', 'env', 'kgwalk/C'], ['kgwalk/CartPole-v1']],
    [['checkpoint', 'import', ''], ['sb3']],
    [
      ['evaluate', '--checkpoint', ''],
      ['best', 'last', 'clone'],
    ],
    [['train', '--resume', 'la'], ['last']],
    [['train', '--resume', '--backend', 'si'], ['simd']],
    [['train', '--progress', 'p'], ['plain']],
    [['compare', '--split', 'v'], ['valid']],
    [['sweep', '--grid', 'policy.hid'], ['policy.hidden']],
    [
      ['embeddings', 'import', '--model', ''],
      ['transe', 'distmult', 'complex'],
    ],
  ])('%j come names of that kind', async (words, expected) => expect(await after(...words)).toEqual(expected));

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

  test('the help of --backend names every backend', () => {
    const options = program.commands
      .flatMap((command) => [command, ...command.commands])
      .flatMap(({ options }) => options);
    const texts = options.filter(({ long }) => long === '--backend').map(({ description }) => description);
    expect(texts.length).toBeGreaterThan(4);
    for (const text of texts) expect(text).toContain(executorNames.join(', ').replace(/, wasm$/, ' or wasm'));
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

describe('with the script that kgwalk prints', () => {
  const folder = folderWith({ 'notes.txt': '' });
  const place = join(folder, "an odd 'place' é");
  const main = join(place, 'kgwalk.mjs');
  const variables = { ...env, KGWALK_HOME: folder, KGWALK_RUNS: '' };

  beforeAll(async () => {
    mkdirSync(place);
    writeFileSync(main, `import ${JSON.stringify(pathToFileURL(resolve('dist/cli/main.js')))};`);
    symlinkSync(main, join(folder, 'link.mjs'));
    env.KGWALK_HOME = folder;
    await importOpenDialKg({ from: folderWith(releaseFiles), name: 'village' });
    for (const run of ['first', 'second one']) {
      mkdirSync(join(folder, 'runs', run), { recursive: true });
      writeFileSync(join(folder, 'runs', run, 'config.yaml'), 'name: broken\n');
    }
  });

  const output = (program: string, ...words: string[]) => {
    const { stdout, stderr } = spawnSync(program, words, { cwd: folder, env: variables, encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout;
  };

  /** Arguments by which each shell completes the last of some words. */
  const shells: Record<string, (script: string, words: string[]) => string[]> = {
    bash(script, words) {
      const line = `COMP_LINE=${quoted(words.join(' '))}; COMP_POINT=\${#COMP_LINE}`;
      return ['--norc', '-c', [script, line, '_kgwalk', `printf '%s\\n' "\${COMPREPLY[@]}"`].join('\n')];
    },
    zsh(script, words) {
      const stubs = ['compdef() :', '_files() print notes.txt', '_describe() print -l -- "${(@)found%%:*}"'];
      const line = `words=(${words.map(quoted).join(' ')}); CURRENT=${words.length}`;
      return ['-f', '-c', [...stubs, script, line, '_kgwalk'].join('\n')];
    },
    fish: (script, words) => ['--no-config', '-c', `${script}\ncomplete -C ${quoted(words.join(' '))} | cut -f 1`],
  };
  const quoted = (word: string) => `'${word}'`;

  const rows: [line: string, expected: string[] | (() => string[])][] = [
    ['kgwalk train metaq', () => presetNames().filter((name) => name.startsWith('metaq'))],
    ['kgwalk train ', presetNames],
    ['npx kgwalk train ', presetNames],
    ['npx --no kgwalk completion ', ['bash', 'fish', 'zsh']],
    ['./node_modules/.bin/kgwalk evaluate --dataset ', ['village']],
    ['kgwalk evaluate --dataset=vil', ['--dataset=village']],
    ['kgwalk train --set ppo.updates=2 metaq', ['metaqa']],
    ['kgwalk report runs/', ['runs/first', 'runs/second one']],
    ['kgwalk report "runs/second o', ['runs/second one']],
    ['kgwalk report runs/second\\ one runs/fi', ['runs/first']],
    ['kgwalk checkpoint import sb3 notes.t', ['notes.txt']],
    ['npx notes.t', ['notes.txt']],
  ];

  for (const [shell, asked] of Object.entries(shells)) {
    const { error } = spawnSync(shell, ['--version']);
    if (error) console.warn(`completion in ${shell} is not tested: there is no ${shell}`);
    (error ? describe.skip : describe)(`in ${shell}`, () => {
      test.each(rows)('%s<TAB>', (line, expected) => {
        const script = output(execPath, join(folder, 'link.mjs'), 'completion', shell);
        expect(script).toContain(main.replaceAll("'", String.raw`'\''`));
        const offered = output(shell, ...asked(script, line.split(' ')))
          .split('\n')
          .filter(Boolean);
        const wanted = typeof expected === 'function' ? expected() : expected;
        // Bash replaces what is behind a = alone, and completes files itself.
        if (shell === 'bash' && wanted.includes('notes.txt')) expect(offered).toEqual([]);
        else expect(offered.sort()).toEqual(wanted.map((word) => (shell === 'bash' ? word.split('=').at(-1)! : word)));
      });
    });
  }

  test('another shell is refused', async () => expect((await kgwalk('completion', 'cmd')).exitCode).toBe(2));
});
