import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { importLinks } from '../../../datasets/links/import-links.js';
import { importOpenDialKg } from '../../../datasets/opendialkg/import.js';
import { envIds } from '../../../envs/registry.js';
import { silentProgress } from '../../../src/run/progress.js';
import { type AskedEnv, openEnvironment } from '../../../serve/env/open-environment.js';
import { EnvSession } from '../../../serve/env/session.js';
import type { Work } from '../../../tasks/task.js';
import { clientOf } from '../../fixtures/env-replies.js';
import { useSharedHome } from '../../fixtures/own-home.js';
import { tinyLinkFiles } from '../../fixtures/tiny-links.js';
import { folderWith, releaseFiles } from '../../fixtures/tiny-release.js';
import { importFilms } from '../../fixtures/toy-question-training.js';

useSharedHome(async () => {
  await importLinks({ from: folderWith(tinyLinkFiles), name: 'tiny' });
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  await importFilms();
});

const work: Work = {
  progress: silentProgress,
  note: () => {},
  onTruncatedLog: () => {},
  preset: () => Promise.reject(new Error('none')),
};
const asked = (id: string, more: Partial<AskedEnv> = {}): AskedEnv => ({
  ...{ id, split: 'train', set: [], option: [], numEnvs: 2, autoreset: 'sameStep' },
  ...more,
});
const opened = async (id: string, more: Partial<AskedEnv> = {}) => {
  const client = clientOf(new EnvSession((await openEnvironment(asked(id, more), work))()));
  return { ...client, greeting: client.hello() };
};

/** Random legal walks: what is seen, for so many steps. */
function walked({ reset, step }: Awaited<ReturnType<typeof opened>>, steps = 12) {
  const replies = [reset({ seed: 8 })];
  for (let i = 0; i < steps; i++) {
    const { masks, counts } = replies.at(-1)!;
    replies.push(step(counts.map((count, copy) => (masks ? masks[copy]!.lastIndexOf(1) : i % count))));
  }
  return replies;
}

describe('every environment', () => {
  test.each<[string, Partial<AskedEnv>, string[]]>([
    ['kgwalk/LinkQuery-v1', { dataset: 'tiny' }, ['head', 'relation', 'current', 'hop']],
    ['kgwalk/OpenDialKG-v1', { dataset: 'opendialkg', split: 'valid' }, ['step', 'start', 'current', 'hop']],
    [
      'kgwalk/OpenDialKG-v1',
      { dataset: 'opendialkg', encoder: 'hashed:8' },
      ['step', 'start', 'current', 'hop', 'vector'],
    ],
    ['kgwalk/RelationWalk-v1', { dataset: 'films', set: ['data.subsets=[2-hop]'] }, ['step']],
    ['kgwalk/RelationWalk-v1', { dataset: 'films/2-hop', encoder: 'hashed:8' }, ['step', 'vector']],
    ['kgwalk/CartPole-v1', {}, ['observation']],
    ['kgwalk/Grid-v1', { option: ['size=4'] }, ['observation']],
    ['kgwalk/MaskedBandit-v1', {}, ['observation']],
  ])('%s %j is walked', async (id, more, columns) => {
    const env = await opened(id, more);
    expect(env.greeting.columns.map(({ name }) => name)).toEqual(columns);
    const replies = walked(env);
    expect(replies.at(-1)!.rewards).toHaveLength(2);
    expect(walked(await opened(id, more))).toEqual(replies);
    if (!columns.includes('vector')) return;
    const { vector } = replies[1]!.observations as { vector: number[][] };
    expect(vector[0]).toHaveLength(16);
    expect(vector[0]!.some((number) => number !== 0)).toBe(true);
  });

  test('is served: none has been forgotten here', () => {
    expect(envIds()).toEqual([
      ...['kgwalk/CartPole-v1', 'kgwalk/Grid-v1', 'kgwalk/LinkQuery-v1', 'kgwalk/MaskedBandit-v1'],
      ...['kgwalk/OpenDialKG-v1', 'kgwalk/RelationWalk-v1'],
    ]);
  });
});

test('settings and options of the environment are followed', async () => {
  const walks = await opened('kgwalk/LinkQuery-v1', { dataset: 'tiny', set: ['linkWalk.horizon=5'] });
  expect(walks.greeting.spec.maxSteps).toBe(5);
  const cut = await opened('kgwalk/LinkQuery-v1', { dataset: 'tiny', option: ['maxEdges=2', 'horizon=4'] });
  expect(cut.greeting).toMatchObject({ maxActions: 3, spec: { maxSteps: 4 } });
  const file = join(folderWith({}), 'mine.yaml');
  writeFileSync(file, 'linkWalk:\n  horizon: 1\n');
  const configured = await opened('kgwalk/LinkQuery-v1', { dataset: 'tiny', config: file });
  expect(configured.greeting.spec.maxSteps).toBe(1);
});

test('a walk over links observes vectors of a pretrained scorer, and is rewarded by one', async () => {
  const settings = ['transe.epochs=1', 'transe.dim=8', 'bilinear.epochs=1', 'bilinear.dim=8'];
  const shaping = ['linkWalk.shaping=terminal', 'linkWalk.shapingWeight=1'];
  const env = await opened('kgwalk/LinkQuery-v1', {
    dataset: 'tiny',
    encoder: 'transe',
    set: [...settings, ...shaping],
  });
  expect(env.greeting.columns.at(-1)).toMatchObject({ name: 'vector', width: 24 });
  const all = walked(env).flatMap(({ rewards }) => rewards);
  expect(all.some((reward) => reward > 0 && reward < 1)).toBe(true);
});

test.each<[string, Partial<AskedEnv>, string]>([
  ['kgwalk/Link-v1', {}, 'expected a known environment, got "kgwalk/Link-v1"'],
  ['kgwalk/LinkQuery-v1', {}, 'expected a data set of links, got none, at --dataset'],
  ['kgwalk/LinkQuery-v1', { dataset: 'nobody' }, 'expected an imported data set, got "nobody"'],
  ['kgwalk/LinkQuery-v1', { dataset: 'films' }, 'expected a data set of links, got films of questions'],
  ['kgwalk/LinkQuery-v1', { dataset: 'tiny', encoder: 'hashed:8' }, 'expected transe or bilinear, got hashed:8'],
  ['kgwalk/LinkQuery-v1', { dataset: 'tiny', split: 'dev' }, 'expected train, valid or test, got dev'],
  ['kgwalk/LinkQuery-v1', { dataset: 'tiny', set: ['linkWalk.horizons=2'] }, 'linkWalk.horizons'],
  ['kgwalk/LinkQuery-v1', { dataset: 'tiny', option: ['horizon'] }, 'expected KEY=VALUE, got horizon, at --option'],
  ['kgwalk/OpenDialKG-v1', { dataset: 'opendialkg', set: ['env.shaping=transe'] }, 'expected env.shaping=none'],
  ['kgwalk/RelationWalk-v1', { dataset: 'films/9-hop' }, 'expected a subset of films'],
  ['kgwalk/Grid-v1', { option: ['size=1'] }, 'the environment failed: expected at least 2 cells a side, got 1'],
])('%s %j is refused before anybody waits', async (id, more, message) => {
  await expect(openEnvironment(asked(id, more), work)).rejects.toThrow(message);
});
