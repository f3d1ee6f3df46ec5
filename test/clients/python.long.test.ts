/** The tests of clients/python, which start the built program: `npm test` builds it first. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { importLinks } from '../../datasets/links/import-links.js';
import { cartPoleId } from '../../envs/classic.js';
import { linkQueryId } from '../../envs/link-query/world.js';
import { envIds, makeEnv } from '../../envs/registry.js';
import { openLinkTraining } from '../../agents/link-training.js';
import { trainPolicy } from '../../tasks/episodes/train-policy.js';
import { trainSettings } from '../../agents/train-settings.js';
import { examplesOf } from '../docs/examples.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith } from '../fixtures/tiny-release.js';

const python = env.KGWALK_TEST_PYTHON ?? 'python3';
const { status, stderr } = spawnSync(python, ['-c', 'import gymnasium, numpy'], { encoding: 'utf8' });
const reason = stderr?.trim().split('\n').at(-1) ?? 'no such program';
if (status !== 0) {
  console.warn(
    `skipped: the client for Python, since ${python} has no gymnasium (${reason}); KGWALK_TEST_PYTHON names another`,
  );
}

const place = folderWith({});
const home = folderWith({});
const episodes = join(place, 'episodes.txt');
const ids = envIds().join(',');

beforeAll(async () => {
  env.KGWALK_HOME = home;
  for (const name of ['tiny', 'umls']) await importLinks({ from: folderWith(tinyLinkFiles), name });
  writeFileSync(episodes, await episodesOfNode());
});
afterAll(() => rmSync(home, { recursive: true }));

/** Hash of a thousand walks, in the same text form as the test in Python. */
async function episodesOfNode(): Promise<string> {
  const { dataset, queries } = await openLinkTraining(trainSettings.parse({ data: { dataset: 'tiny' } }));
  const walk = makeEnv(linkQueryId, { graph: dataset.graph, queries, known: dataset.trainKnown, horizon: 3 });
  const hash = createHash('sha256');
  for (let seed = 0; seed < 1000; seed++) {
    const begun = walk.reset({ seed });
    let { observation } = begun;
    const lines = [`sample ${Number(begun.info.sample)}`];
    for (let ended = false; !ended;) {
      const { head, relation, current, hop, tails, actionMask } = observation;
      const legal = [...actionMask.keys()].filter((action) => actionMask[action] === 1);
      const action = legal[(31 * seed + 7 * hop) % legal.length]!;
      const list = (numbers: readonly number[]) => `[${numbers.join(', ')}]`;
      lines.push(`${list([head, relation, current, hop])} ${list([...tails])} ${list(legal)} ${action}`);
      const step = walk.step(action);
      const hit = { true: 'True', false: 'False' }[String(step.info.hit)] ?? 'None';
      lines.push(`${step.reward.toFixed(6)} ${Number(step.terminated)} ${Number(step.truncated)} ${hit}`);
      observation = step.observation;
      ended = step.terminated;
    }
    hash.update(lines.join('\n'));
  }
  return hash.digest('hex');
}

async function runPython(cwd: string, ...words: string[]): Promise<{ code: number; said: string }> {
  const child = spawn(python, words, {
    cwd,
    env: {
      ...env,
      KGWALK: `'${execPath}' '${resolve('dist/cli/main.js')}'`,
      PYTHONPATH: resolve('clients/python'),
      PYTHONDONTWRITEBYTECODE: '1',
      KGWALK_TEST_DATASET: 'tiny',
      KGWALK_TEST_EPISODES: episodes,
      KGWALK_TEST_IDS: ids,
      OMP_NUM_THREADS: '1',
    },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}

const ownEnv = `
  export function plugin({ registerEnv }) {
    const space = (form) => ({ form, contains: () => true, sample: () => 0 });
    registerEnv('mine/Walk-v1', ({ size }) => () => ({
      spec: { id: 'mine/Walk-v1', maxSteps: 1 },
      actionSpace: space({ kind: 'discrete', n: size, first: 0 }),
      observationSpace: space({ kind: 'vector', length: 1 }),
      reset: () => ({ observation: Float32Array.of(0), info: {} }),
      step: () => ({ observation: Float32Array.of(1), reward: 1, terminated: true, truncated: false, info: {} }),
      render: () => '',
      close() {},
    }));
  }`;

const programs = ['docs/how-to/python.md', 'clients/python/README.md'].flatMap((page) =>
  examplesOf(page)
    .filter(({ language }) => language === 'python')
    .map(({ text, heading }) => ({
      ...{ page, heading },
      text: text.replace(/learn\([\d_]+\)/, 'learn(64)').replace('"virus", "causes"', '"Ivy Stone", "citizen_of"'),
    })),
);

/** Packages that some programs want beside gymnasium. */
const absent = ['sb3_contrib', 'pandas'].filter((name) => spawnSync(python, ['-c', `import ${name}`]).status !== 0);

for (const { page, heading, text } of programs) {
  const missing = absent.find((name) => text.includes(name));
  if (status === 0 && missing)
    console.warn(`skipped: the program under “${heading}”, since ${python} has no ${missing}`);
  (status === 0 && !missing ? test : test.skip)(`the program under “${heading}” of ${page} runs`, async () => {
    const folder = folderWith({ 'program.py': text, 'my-env.mjs': ownEnv });
    const run = /"(runs\/\w+)"/.exec(text)?.[1];
    if (run) await trainPolicy({ env: cartPoleId, settings: { totalSteps: 512 }, folder: join(folder, run) });
    const { code, said } = await runPython(folder, '-W', 'error::UserWarning', 'program.py');
    expect([code, said]).toEqual([0, expect.any(String)]);
    if (/print\(/.test(text)) expect(said).not.toBe('');
  });
}

(status === 0 ? test : test.skip)('the tests in Python pass', async () => {
  const { code, said } = await runPython('clients/python/tests', '-m', 'unittest', '-v', 'test_kgwalk_gym');
  expect([code, said]).toEqual([0, expect.stringMatching(/^OK( \(skipped=\d+\))?$/m)]);
  for (const [, name, why] of said.matchAll(/^(.*) \.\.\. skipped (.*)/gm)) console.warn(`skipped: ${name}: ${why}`);
});
