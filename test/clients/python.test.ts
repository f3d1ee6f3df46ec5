/** The tests of clients/python, which start the built program: `npm test` builds it first. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { importLinks } from '../../datasets/links/import-links.js';
import { linkQueryId } from '../../envs/link-query/world.js';
import { envIds, makeEnv } from '../../envs/registry.js';
import { openLinkTrainingData } from '../../tasks/links/training-data.js';
import { trainSettings } from '../../trainers/train-settings.js';
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
const previousHome = env.KGWALK_HOME;

beforeAll(async () => {
  env.KGWALK_HOME = home;
  await importLinks({ from: folderWith(tinyLinkFiles), name: 'tiny' });
  writeFileSync(episodes, await episodesOfNode());
});
afterAll(() => {
  rmSync(home, { recursive: true });
  if (previousHome === undefined) delete env.KGWALK_HOME;
  else env.KGWALK_HOME = previousHome;
});

/** A hash of a thousand walks, told as the test in Python tells them. */
async function episodesOfNode(): Promise<string> {
  const { dataset, queries } = await openLinkTrainingData(trainSettings.parse({ data: { dataset: 'tiny' } }));
  const walk = makeEnv(linkQueryId, { graph: dataset.graph, queries, known: dataset.trainKnown, horizon: 3 });
  const told = createHash('sha256');
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
    told.update(lines.join('\n'));
  }
  return told.digest('hex');
}

(status === 0 ? test : test.skip).each(['Checked', 'Episodes', 'Refused', 'Ends', 'Vectors', 'Found'])(
  'the tests of %s pass',
  async (name) => {
    const child = spawn(python, ['-m', 'unittest', '-v', `test_kgwalk_gym.${name}`], {
      cwd: 'clients/python/tests',
      env: {
        ...env,
        KGWALK: `'${execPath}' '${resolve('dist/cli/main.js')}'`,
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
    expect([code, said]).toEqual([0, expect.stringMatching(/^OK( \(skipped=\d+\))?$/m)]);
    for (const [, why] of said.matchAll(/\.\.\. skipped (.*)/g)) console.warn(`skipped in ${name}: ${why}`);
  },
);
