/** Runs on link queries that clone shortest paths first. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { importLinks } from '../../../datasets/links/import-links.js';
import { loadPreset } from '../../../presets/index.js';
import { train } from '../../../tasks/train.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { importTinyLinks, tinyLinkSettings } from '../../fixtures/tiny-link-training.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { runHashes } from '../../fixtures/tiny-training.js';

useOwnHome();

const settings = (...overrides: string[]) =>
  tinyLinkSettings('demonstrations.paths=2', 'clone.epochs=2', 'ppo.updates=4', ...overrides);

test('clone the walks that an exact walker owes its answers to, and are refused without one', async () => {
  await importTinyLinks();
  const [chains, own, shortest] = ['chains', 'own', 'shortest'].map((name) => join(folderWith({}), name));
  const exact = loadPreset('link-chains', ['data.dataset=tiny', 'exactWalker.chains.steps=60']);
  await train({ settings: exact, folder: chains! });
  const given = (...more: string[]) => settings('ppo.enabled=false', ...more);
  await train({ settings: given(`demonstrations.teacher=${chains}`), folder: own! });
  await train({ settings: given(), folder: shortest! });
  const [taught, plain] = [own, shortest].map((folder) => runHashes(folder!));
  expect(taught).not.toEqual(plain);
  const refused = (teacher: string) =>
    train({ settings: given(`demonstrations.teacher=${teacher}`), folder: join(folderWith({}), 'refused') });
  await expect(refused('nobody')).rejects.toMatchObject({
    ...{ code: 'data', message: expect.stringContaining('got none, nobody, at demonstrations.teacher') },
  });
  await expect(refused(own!)).rejects.toThrow('expected a run of an exact walker over chains of tiny, got another run');
});

test('are refused where no answer is within the horizon', async () => {
  const far = { 'train.txt': 'a\tto\tb\nb\tto\tc\n', 'valid.txt': 'a\tfrom\tc\n', 'test.txt': 'a\tfrom\tb\n' };
  await importLinks({ name: 'tiny', from: folderWith(far) });
  const folder = join(folderWith({}), 'run');
  await expect(train({ settings: settings(), folder })).rejects.toThrow(
    /expected answers within 3 steps .* got none among 4 queries of train/,
  );
});
