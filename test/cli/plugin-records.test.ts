/** Records of plugins in runs and evaluations, and their checks on later use. */
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { openRun } from '../../src/run/run-folder.js';
import { loadPlugin, train } from '../../tasks/library.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { rewriteConfig, tinyOverrides, tinySettings } from '../fixtures/tiny-training.js';

useReleaseHome();

const pluginFile = (text: string, name = 'mine.mjs') => join(folderWith({ [name]: text }), name);
const registering = (body: string) => `export async function plugin(host) { ${body} }`;
const rewarding = (kind: string) => registering(`host.registerReward('${kind}', () => true);`);
const sha256Of = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
const set = (...settings: string[]) => [...tinyOverrides, ...settings].flatMap((one) => ['--set', one]);
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
  const settings = set('env.reward.kind=kept', 'data.dataset=opendialkg');
  run = await trained(join(folderWith({}), 'run'), 'opendialkg-tiny', ...settings, '--plugin', reward);
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
      const words = ['train', 'opendialkg-tiny', '--run-dir', folder, ...set(setting, 'data.dataset=opendialkg')];
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
