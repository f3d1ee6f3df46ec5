/** Runs on link queries that clone shortest paths first. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { importLinks } from '../../../datasets/links/import-links.js';
import { runSettings } from '../../../presets/schema.js';
import { readIndex } from '../../../checkpoints/store.js';
import { loadConfig } from '../../../src/run/config.js';
import { train } from '../../../trainers/train.js';
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

test.each([
  ['in the clone', 'clone', 3],
  ['in PPO, near the clone', 'ppo', 3],
])('go on where they were stopped %s, byte for byte', async (_, phase, step) => {
  await importTiny();
  const [whole, broken] = [join(folderWith({}), 'whole'), join(folderWith({}), 'broken')];
  await train({ settings: settings(), folder: whole });
  await expect(train({ settings: settings(), folder: broken, ...stopAt(phase, step) })).rejects.toMatchObject({
    code: 'stopped',
  });
  await train({ settings: settings(), folder: broken, resume: 'last' });
  expect(runHashes(broken)).toEqual(runHashes(whole));
  expect(readIndex(whole)).toMatchObject({ clone: { phase: 'clone' }, last: { phase: 'ppo', step: 4 } });
});

test('are refused where no answer is within the horizon', async () => {
  const far = { 'train.txt': 'a\tto\tb\nb\tto\tc\n', 'valid.txt': 'a\tfrom\tc\n', 'test.txt': 'a\tfrom\tb\n' };
  await importLinks({ name: 'tiny', from: folderWith(far) });
  const folder = join(folderWith({}), 'run');
  await expect(train({ settings: settings(), folder })).rejects.toThrow(
    /expected answers within 3 steps .* got none among 4 queries of train/,
  );
});
