/** Plugins: what they may be, what they register, and their records in runs and evaluations. */
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { openRun } from '../../src/run/run-folder.js';
import { dialogueData } from '../../tasks/dialogues/data.js';
import { loadPlugin, train } from '../../tasks/library.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { rewriteConfig, tinyOverrides, tinySettings } from '../fixtures/tiny-training.js';

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

const rewarding = (kind: string) => registering(`host.registerReward('${kind}', () => true);`);
const sha256Of = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
/** Settings of the shortest run. */
const few = [...tinyOverrides, 'transe.enabled=false', 'clone.epochs=1', 'ppo.updates=1', 'data.dataset=opendialkg'];
const set = (...settings: string[]) => [...few, ...settings].flatMap((one) => ['--set', one]);
const dialogues = ['--dataset', 'opendialkg', '--evaluations', folderWith({})];

/** Trains, and sees that it worked. */
async function trained(folder: string, preset: string, ...words: string[]): Promise<string> {
  const { exitCode, err } = await kgwalk('train', preset, '--run-dir', folder, ...words);
  expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
  return folder;
}

/** A copy of a run that says it was trained with this plugin. */
function copyTrainedWith(run: string, file: string, sha256: string): string {
  const folder = join(folderWith({}), 'copy');
  cpSync(run, folder, { recursive: true });
  rewriteConfig(folder, (config) => ({ ...config, plugins: [`${basename(file)}@sha256:${sha256}`] }));
  const record = { ...openRun(folder).environment, plugins: [{ file, sha256 }] };
  writeFileSync(join(folder, 'environment.json'), JSON.stringify(record));
  return folder;
}

let reward: string;
let run: string;
beforeAll(async () => {
  reward = pluginFile(rewarding('kept'), 'kept.mjs');
  const settings = set('env.reward.kind=kept');
  run = await trained(join(folderWith({}), 'run'), 'opendialkg-tiny', ...settings, '--plugin', reward);
});

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

describe('a run keeps what a plugin was', () => {
  test('its name and hash among the settings, its path in a separate file, its hash with the evaluation', async () => {
    const { config, environment } = openRun(run);
    expect(config.plugins).toEqual([`kept.mjs@sha256:${sha256Of(reward)}`]);
    expect(environment.plugins).toEqual([{ file: reward, sha256: sha256Of(reward) }]);
    const record = await kgwalkJson<EvaluationRecord>('evaluate', run);
    expect(record.hashes).toMatchObject({ 'plugin:kept.mjs': sha256Of(reward) });
    const builtIn = await kgwalkJson<EvaluationRecord>('evaluate', '--agent', 'frequency', ...dialogues);
    expect(Object.keys(builtIn.hashes).filter((key) => key.startsWith('plugin:'))).toEqual([]);
  });

  test('one named in a settings file next to it is loaded without a flag', async () => {
    const folder = folderWith({
      'near.mjs': rewarding('near'),
      'mine.yaml': stringify({
        extends: 'opendialkg-tiny',
        plugins: ['./near.mjs'],
        data: { dataset: 'opendialkg' },
        env: { reward: { kind: 'near' } },
      }),
    });
    const near = await trained(join(folder, 'run'), join(folder, 'mine.yaml'), ...set());
    const label = `near.mjs@sha256:${sha256Of(join(folder, 'near.mjs'))}`;
    expect(openRun(near).config.plugins).toContain(label);
  });

  test('a program loads one by the same call', async () => {
    const file = pluginFile(rewarding('programmed'), 'programmed.mjs');
    await loadPlugin(file);
    await loadPlugin(file);
    const folder = join(folderWith({}), 'run');
    const settings = tinySettings('env.reward.kind=programmed', 'data.dataset=opendialkg', 'encoder.model=hashed:8');
    await train({ settings, folder });
    expect(openRun(folder).environment.plugins).toContainEqual({ file, sha256: sha256Of(file) });
  });

  test('settings in the folder of a run load nothing', async () => {
    const folder = folderWith({
      'evil.mjs': 'globalThis.evilRan = true; export function plugin() {}',
      'environment.json': '{}',
      'config.yaml': stringify({ plugins: ['./evil.mjs'] }),
    });
    const { exitCode, err } = await kgwalk('train', join(folder, 'config.yaml'));
    expect(exitCode).toBe(2);
    expect(err).toMatch(/plugins: expected no file from the settings of a run, got \.\/evil\.mjs, at .*config\.yaml:1/);
    expect('evilRan' in globalThis).toBe(false);
  });
});

describe('a run asks for its plugin again', () => {
  const file = () => pluginFile(rewarding('unheard-of'), 'gone.mjs');

  test.each([
    ['resumed', (folder: string) => ['train', '--resume', '--run-dir', folder]],
    ['evaluated', (folder: string) => ['evaluate', folder, '--split', 'test']],
    ['asked', (folder: string) => ['ask', folder, 'Who?', '--start', 'Alba']],
  ])('when it is %s: the error names file and hash, and the command to paste', async (_, words) => {
    const gone = file();
    const folder = copyTrainedWith(run, gone, sha256Of(gone));
    const { exitCode, err, out } = await kgwalk(...words(folder));
    expect([exitCode, out]).toEqual([2, '']);
    expect(err).toContain(
      `expected the plugin of the run, got none of gone.mjs (sha256 ${sha256Of(gone).slice(0, 12)}…`,
    );
    expect(err).toContain(`; at ${gone}), at ${folder}`);
    const command = words(folder).map((word) => (word === 'Who?' ? `'Who?'` : word));
    expect(err).toContain(`only when you name it: kgwalk ${command.join(' ')} --plugin ${gone}`);
  });

  test('the error says of a file that it is gone, or another by now', async () => {
    const gone = file();
    const folder = copyTrainedWith(run, gone, sha256Of(gone));
    writeFileSync(gone, rewarding('other'));
    const changed = await kgwalk('evaluate', folder);
    expect(changed.err).toContain(`${gone} has changed since: ${sha256Of(gone).slice(0, 12)}…`);
    rmSync(gone);
    const { err } = await kgwalk('evaluate', folder);
    expect(err).toContain(`; no longer at ${gone})`);
    expect(err).toContain('--plugin PATH/gone.mjs');
  });

  test('one that changed is refused on resume, and reported on evaluation', async () => {
    const folder = copyTrainedWith(run, reward, 'ab'.repeat(32));
    const resumed = await kgwalk('train', '--resume', '--run-dir', folder, '--plugin', reward);
    expect(resumed.exitCode).toBe(2);
    const said = `the run was made with kept.mjs of sha256 abababababab…, ${reward} has ${sha256Of(reward).slice(0, 12)}… now`;
    expect(resumed.err).toContain(`expected the plugins of the run, got others, at ${folder}: ${said}`);
    const evaluated = await kgwalk('evaluate', folder, '--plugin', reward);
    expect(evaluated.exitCode).toBe(0);
    expect(evaluated.err).toContain(said);
  });

  test('an evaluation is replayed with the plugin that brought its agent', async () => {
    const agent = pluginFile(
      registering(`host.agents.dialogues.register('mute', {
        create: () => ({ name: 'mute', answer: async (tasks) => tasks.map(() => ({ paths: [], answers: [], cost: {} })) }),
      });`),
      'mute.mjs',
    );
    const words = ['evaluate', '--agent', 'mute', ...dialogues, '--plugin', agent];
    const saved = dirname((await kgwalkJson<{ saved: string }>(...words)).saved);
    expect((await kgwalk('replay', saved)).exitCode).toBe(0);
    const asked = join(saved, 'asked.json');
    writeFileSync(asked, readFileSync(asked, 'utf8').replace(sha256Of(agent), 'ab'.repeat(32)));
    const { exitCode, err } = await kgwalk('replay', saved);
    expect(exitCode).toBe(2);
    expect(err).toContain('the evaluation was made with mute.mjs of sha256 abababababab…');
  });
});

describe('a plugin that throws later names itself, with the line', () => {
  const throwing = "throw new Error('out of ideas');";

  test('an agent: samples are missed, and the note says whose they are', async () => {
    const file = pluginFile(
      registering(
        `host.agents.dialogues.register('broken', {\n create: () => ({ name: 'broken', async answer() {\n ${throwing} } }),\n});`,
      ),
    );
    const { exitCode, err } = await kgwalk('evaluate', '--agent', 'broken', ...dialogues, '--plugin', file);
    expect(exitCode).toBe(0);
    expect(err).toContain(`out of ideas (agent dialogues/broken of the plugin ${file}:3:`);
  });

  test('an agent that cannot be made', async () => {
    const file = pluginFile(registering(`host.agents.dialogues.register('unmade', { create() {\n ${throwing} } });`));
    const { exitCode, err } = await kgwalk('evaluate', '--agent', 'unmade', ...dialogues, '--plugin', file);
    expect(exitCode).toBe(1);
    expect(err).toContain(`the plugin failed in agent dialogues/unmade: out of ideas, at ${file}:2:`);
  });

  test('a reward, and an environment: the run failed, and says by what', async () => {
    const envs = new URL('../../envs/index.ts', import.meta.url).href;
    const file = pluginFile(`
      import { DialogueWalkEnv, dialogueWalkWorld } from '${envs}';
      class Torn extends DialogueWalkEnv { step() { ${throwing} } }
      export const plugin = ({ registerEnv, registerReward }) => {
        registerEnv('mine/Torn-v1', (options) => { const world = dialogueWalkWorld(options); return () => new Torn(world); });
        registerReward('torn', () => { ${throwing} });
      };`);
    for (const [setting, what] of [
      ['env.reward.kind=torn', 'reward torn'],
      ['env.id=mine/Torn-v1', 'environment mine/Torn-v1'],
    ] as const) {
      const folder = join(folderWith({}), 'run');
      const words = ['train', 'opendialkg-tiny', '--run-dir', folder, ...set(setting)];
      const { exitCode, err } = await kgwalk(...words, '--plugin', file);
      expect(exitCode).toBe(1);
      expect(err).toContain(`error: the plugin failed in ${what}: out of ideas, at ${file}:`);
      expect(openRun(folder).state).toMatchObject({ status: 'failed', reason: expect.stringContaining(what) });
    }
  });

  test('one that takes a name that is taken', async () => {
    const file = pluginFile(rewarding('path'));
    const { err } = await kgwalk('config', 'explain', 'seed', '--plugin', file);
    expect(err).toContain(`got "path", which is registered already, at ${file}`);
  });
});

describe('what a plugin registers is known to the command', () => {
  test('an agent, by its name and next to built-in ones; options may precede or follow the command', async () => {
    const file = pluginFile(silentAgent('silent'));
    const words = ['compare', 'silent', 'frequency', '--dataset', 'opendialkg'];
    const { exitCode, out, err } = await kgwalk('--plugin', file, ...words);
    expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
    expect(out).toMatch(/^silent +/m);
    expect(out).toMatch(/^most frequent +/m);
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
    const words = ['train', 'opendialkg-tiny', '--run-dir', folder, ...set('env.reward.kind=always')];
    const refused = await kgwalk(...words);
    expect(refused.exitCode).toBe(2);
    const kinds = /\(target, path, first-hop.*; of a plugin with --plugin FILE\), got "always"/;
    expect(refused.err).toMatch(kinds);
    const { exitCode, err } = await kgwalk(...words, '--plugin', file);
    expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
    const metrics = readFileSync(join(folder, 'metrics.jsonl'), 'utf8').split('\n');
    const hits = metrics.flatMap((line) => /"rollout\/hit_rate":([\d.]+)/.exec(line)?.[1] ?? []);
    expect(hits).toEqual(['1']);
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
    const words = ['train', 'opendialkg-tiny', '--run-dir', folder, ...set('env.id=mine/Generous-v1')];
    expect((await kgwalk(...words)).err).toMatch(/expected a known environment \(.*\), got "mine\/Generous-v1"/);
    const { exitCode, err } = await kgwalk(...words, '--plugin', file);
    expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
    const metrics = readFileSync(join(folder, 'metrics.jsonl'), 'utf8').split('\n');
    const rewards = metrics.flatMap((line) => /"rollout\/reward":([\d.]+)/.exec(line)?.[1] ?? []);
    expect(rewards).toEqual(['7']);
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
    expect(out).toMatch(/^random walk on talks, .* n = 2/m);
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
