/** Runs on link queries that clone shortest paths first. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { importLinks } from '../../../datasets/links/import-links.js';
import { loadPreset } from '../../../presets/index.js';
import { runSettings } from '../../../presets/index.js';
import { readIndex } from '../../../checkpoints/store.js';
import { loadConfig } from '../../../src/run/config.js';
import { train } from '../../../tasks/train.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { tinyLinkFiles } from '../../fixtures/tiny-links.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { runHashes, stopAt } from '../../fixtures/tiny-training.js';

useOwnHome();

const text = `
name: tiny-clone
backend: wasm
data: { dataset: tiny }
env: { id: kgwalk/LinkQuery-v1 }
linkWalker: { vectorDim: 8, pathDim: 8, width: 16 }
transe: { enabled: false }
demonstrations: { paths: 2 }
clone: { epochs: 2, batchSize: 16, learningRate: 0.02, warmupSteps: 2 }
ppo: { updates: 4, samplesPerUpdate: 8, minibatchSamples: 8, explorations: 4, evalEvery: 2 }
evaluation: { beamWidth: 32 }
`;
const settings = (...overrides: string[]) => loadConfig(runSettings, { text, overrides, source: 'tiny-clone' });
const importTiny = () => importLinks({ name: 'tiny', from: folderWith(tinyLinkFiles) });

/** Paths without a recurrent cell, with a critic. */
const means = ['linkWalker.pathEncoder=mean', 'ppo.baseline=critic'];

test.each([
  ['in the clone', 'clone', 3, []],
  ['in PPO, near the clone', 'ppo', 3, []],
  ['in PPO over means of paths with a critic', 'ppo', 3, means],
] as const)('resume where they were stopped %s, byte for byte', async (_, phase, step, overrides) => {
  await importTiny();
  const [whole, broken] = [join(folderWith({}), 'whole'), join(folderWith({}), 'broken')];
  const given = settings(...overrides);
  await train({ settings: given, folder: whole });
  await expect(train({ settings: given, folder: broken, ...stopAt(phase, step) })).rejects.toMatchObject({
    code: 'stopped',
  });
  await train({ settings: given, folder: broken, resume: 'last' });
  expect(runHashes(broken)).toEqual(runHashes(whole));
  expect(readIndex(whole)).toMatchObject({ clone: { phase: 'clone' }, last: { phase: 'ppo', step: 4 } });
});

test('clone the walks that an exact walker owes its answers to, and are refused without one', async () => {
  await importTiny();
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

test('are not computed on the host', async () => {
  await importTiny();
  const folder = join(folderWith({}), 'run');
  await expect(train({ settings: settings('backend=host'), folder })).rejects.toThrow(
    'expected backend=host with policies over vectors, or walks of dialogues with walker.head=candidate and walker.text=frozen, alone',
  );
});
