import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { openRun } from '../../src/run/run-folder.js';
import { dialogueData } from '../../tasks/dialogues/data.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { tinyOverrides } from '../fixtures/tiny-training.js';

useReleaseHome();

/** The file of a module of the user's own. */
const pluginFile = (text: string, name = 'mine.mjs') => join(folderWith({ [name]: text }), name);
const registering = (body: string) => `export async function plugin(host) { ${body} }`;

/** Registers an agent of dialogues that finds nothing. */
const silentAgent = (name: string) =>
  registering(`host.agents.dialogues.register('${name}', {
    create: () => ({
      name: '${name}',
      answer: async (tasks) => tasks.map(() => ({ paths: [], answers: [], cost: {} })),
    }),
  });`);
const listed = ['config', 'explain'];

describe('a plugin that cannot be used ends the command before it begins', () => {
  test('a file that is not there', async () => {
    const { exitCode, err, out } = await kgwalk(...listed, '--plugin', 'nowhere.mjs');
    expect(exitCode).toBe(2);
    expect(err).toMatch(/expected a file, got none, at --plugin .*nowhere\.mjs/);
    expect(err).toMatch(/function plugin\(\{ agents, .* \}\)/);
    expect(out).toBe('');
  });

  test.each([
    ['without the function', 'export const agent = 1;', 'undefined'],
    ['with something else of that name', 'export const plugin = { agents: [] };', 'object'],
  ])('a module %s', async (_, text, got) => {
    const file = pluginFile(text);
    const { exitCode, err, out } = await kgwalk(...listed, '--plugin', file);
    expect(exitCode).toBe(2);
    expect(err).toContain(`expected an exported function plugin, got ${got}, at ${file}`);
    expect(out).toBe('');
  });

  test.each([
    ['throws while it is loaded', `throw new Error('no such table');`],
    ['throws when it is called', registering(`throw new Error('no such table');`)],
    ['rejects', registering(`return Promise.reject(new Error('no such table'));`)],
  ])('one that %s: the error names the file', async (_, text) => {
    const file = pluginFile(text);
    const { exitCode, err, out } = await kgwalk(...listed, '--plugin', file);
    expect(exitCode).toBe(1);
    expect(err).toContain(`the plugin failed: no such table, at ${file}`);
    expect(out).toBe('');
  });

  test.each([
    ['agent', `host.agents.dialogues.register('frequency', { create: () => undefined });`, 'frequency'],
    ['reward', `host.registerReward('path', () => true);`, 'path'],
    ['environment', `host.registerEnv('kgwalk/OpenDialKG-v1', () => undefined);`, 'kgwalk/OpenDialKG-v1'],
    ['format', `host.registerImporter({ name: 'metaqa', kind: 'questions', import() {} });`, 'metaqa'],
    [
      'figure',
      `const { measure } = await host.loadTask('links');
       const figure = { key: 'twice', title: 'twice', unit: '%', better: 'high' };
       for (let i = 0; i < 2; i++) host.registerFigure(measure, figure, () => 1);`,
      'twice',
    ],
  ])('one that takes the name of a known %s', async (_, body, name) => {
    const { exitCode, err } = await kgwalk(...listed, '--plugin', pluginFile(registering(body)));
    expect(exitCode).toBe(2);
    expect(err).toContain(name);
    expect(err).toMatch(/registered/);
  });
});

describe('what a plugin registers is known to the command', () => {
  test('an agent, by its name and next to built-in ones; options may precede or follow the command', async () => {
    const file = pluginFile(silentAgent('silent'));
    const words = ['compare', 'silent', 'frequency', '--dataset', 'opendialkg'];
    const { exitCode, out, err } = await kgwalk('--plugin', file, ...words);
    expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
    expect(out).toMatch(/^silent +/m);
    expect(out).toMatch(/^frequency +/m);
    // The same file again is the same plugin: nothing is registered twice.
    const record = await kgwalkJson<EvaluationRecord>(
      ...['evaluate', '--agent', 'silent', '--dataset', 'opendialkg', '--plugin', file],
    );
    expect(record).toMatchObject({ agent: 'silent', task: 'dialogues' });
    expect(record.metrics['path@1']!.value).toBe(0);
    const unknown = await kgwalk('evaluate', '--agent', 'silnt', '--dataset', 'opendialkg');
    expect(unknown.err).toContain('Did you mean "silent"?');
  });

  test('several, in their order', async () => {
    const files = ['first', 'second'].map((name) => pluginFile(silentAgent(name)));
    const words = ['compare', 'first', 'second', '--dataset', 'opendialkg'];
    const { exitCode } = await kgwalk(...words, ...files.flatMap((file) => ['--plugin', file]));
    expect(exitCode).toBe(0);
  });

  test('a reward: a run is trained on it, and its kind is checked like ours', async () => {
    const file = pluginFile(registering(`host.registerReward('always', () => true);`));
    const folder = join(folderWith({}), 'run');
    const settings = [...tinyOverrides, 'env.reward.kind=always', 'data.dataset=opendialkg'];
    const words = ['train', 'opendialkg-tiny', '--run-dir', folder, ...settings.flatMap((one) => ['--set', one])];
    const refused = await kgwalk(...words);
    expect(refused.exitCode).toBe(2);
    const kinds = 'target, path, first-hop; of a plugin with --plugin FILE';
    expect(refused.err).toContain(`expected a kind of reward (${kinds}), got "always"`);
    const { exitCode, err } = await kgwalk(...words, '--plugin', file);
    expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
    const metrics = readFileSync(join(folder, 'metrics.jsonl'), 'utf8').split('\n');
    const hits = metrics.flatMap((line) => /"rollout\/hit_rate":([\d.]+)/.exec(line)?.[1] ?? []);
    expect(hits).toEqual(['1', '1', '1', '1']);
    // A run of a plugin that this process does not know.
    const run = openRun(folder);
    const other = { ...run, config: { ...run.config, env: { reward: { kind: 'unheard-of' } } } };
    const flags = { checkpoint: 'best', set: [], modelSet: [] };
    await expect(dialogueData(flags, [other])).rejects.toThrow(
      /expected a kind of reward .*--plugin FILE\), got "unheard-of"/,
    );
  });

  test('an environment: a run is trained in it', async () => {
    const envs = new URL('../../envs/index.ts', import.meta.url).href;
    const file = pluginFile(`
      import { DialogueWalkEnv, dialogueWalkWorld } from '${envs}';
      class Generous extends DialogueWalkEnv {
        step(action) {
          const result = super.step(action);
          return { ...result, reward: result.terminated ? 7 : 0 };
        }
      }
      export const plugin = ({ registerEnv }) =>
        registerEnv('mine/Generous-v1', (options) => {
          const world = dialogueWalkWorld(options);
          return () => new Generous(world);
        });`);
    const folder = join(folderWith({}), 'run');
    const settings = [...tinyOverrides, 'env.id=mine/Generous-v1', 'data.dataset=opendialkg'];
    const words = ['train', 'opendialkg-tiny', '--run-dir', folder, ...settings.flatMap((one) => ['--set', one])];
    expect((await kgwalk(...words)).err).toMatch(/expected a known environment \(.*\), got "mine\/Generous-v1"/);
    const { exitCode, err } = await kgwalk(...words, '--plugin', file);
    expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
    const metrics = readFileSync(join(folder, 'metrics.jsonl'), 'utf8').split('\n');
    const rewards = metrics.flatMap((line) => /"rollout\/reward":([\d.]+)/.exec(line)?.[1] ?? []);
    expect(rewards).toEqual(['7', '7', '7', '7']);
  });

  test('a figure: in the record, in its declarations and in tables', async () => {
    const file = pluginFile(
      registering(`const { measure } = await host.loadTask('dialogues');
        const figure = { key: 'near', title: 'nearly', unit: '%', better: 'high', place: 'main' };
        host.registerFigure(measure, figure, ({ hops, path }) => (hops === 1 ? Number(path > 0) : undefined));`),
    );
    const words = ['evaluate', '--agent', 'memory', '--dataset', 'opendialkg', '--split', 'train'];
    const record = await kgwalkJson<EvaluationRecord>(...words, '--plugin', file);
    expect(record.figures.at(-1)).toMatchObject({ key: 'near', title: 'nearly' });
    const oneHop = record.slices['hops=1']!['path@1']!.n;
    expect(record.metrics.near).toMatchObject({ value: 1, n: oneHop });
    const compared = await kgwalk('compare', 'memory', 'random', ...words.slice(3));
    expect(compared.out).toMatch(/^agent .* near /m);
  });

  test('a data set: its format is imported, listed and evaluated', async () => {
    const importing = new URL('../../datasets/opendialkg/import.ts', import.meta.url).href;
    const file = pluginFile(`
      import { join } from 'node:path';
      import { importOpenDialKg } from '${importing}';
      export const plugin = ({ registerImporter }) =>
        registerImporter({
          name: 'talks',
          kind: 'dialogues',
          import: (options) => importOpenDialKg({ ...options, from: join(options.from, 'inner') }),
        });`);
    const folder = folderWith(
      Object.fromEntries(Object.entries(releaseFiles).map(([name, text]) => [`inner/${name}`, text])),
    );
    const imported = await kgwalk('datasets', 'import', 'talks', '--from', folder, '--plugin', file);
    expect([imported.exitCode, imported.exitCode === 0 ? '' : imported.err]).toEqual([0, '']);
    expect(imported.out).toMatch(/^imported talks · licence: /);
    expect((await kgwalk('datasets', 'list')).out).toMatch(/^talks +/m);
    const { exitCode, out } = await kgwalk('evaluate', '--agent', 'random', '--dataset', 'talks');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^random on talks, .* n = 2/m);
    const unknown = await kgwalk('datasets', 'import', 'chats', '--from', folder);
    expect(unknown.err).toMatch(/expected a format \(.*triples, .*talks\), got "chats"/);
  });
});

test('a plan brings no code: commands with a plugin are not planned', async () => {
  const file = pluginFile(silentAgent('planned'));
  const plan = join(folderWith({}), 'plan.jsonl');
  const evaluate = ['evaluate', '--dataset', 'opendialkg', '--parts', '2', '--write', plan];
  const { exitCode, err } = await kgwalk('--plugin', file, ...evaluate, '--agent', 'planned');
  expect([exitCode, err]).toEqual([2, expect.stringContaining('expected work without plugins, got some')]);
  // One that came another way, as by the preset of a run, shows in what is worked on.
  const figure = registering(`const { measure } = await host.loadTask('dialogues');
    host.registerFigure(measure, { key: 'one', title: 'one', unit: '%', better: 'high' }, () => 1);`);
  await kgwalk(...listed, '--plugin', pluginFile(figure));
  expect((await kgwalk(...evaluate, '--agent', 'frequency')).err).toContain('got some, at plugin:mine.mjs');
});
