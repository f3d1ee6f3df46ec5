/** Runs on link queries that clone shortest paths first. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadLinkWalker } from '../../../agents/link-walker/link-walker.js';
import { importLinks } from '../../../datasets/links/import-links.js';
import { loadPreset } from '../../../presets/index.js';
import { runSettings } from '../../../presets/schema.js';
import { readIndex } from '../../../checkpoints/store.js';
import { readMetrics } from '../../../src/run/metric-log.js';
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

/** Without a recurrent cell and without a tensor library, with a critic. */
const onHost = ['backend=host', 'linkWalker.pathEncoder=mean', 'ppo.baseline=critic'];

test.each([
  ['in the clone', 'clone', 3, []],
  ['in PPO, near the clone', 'ppo', 3, []],
  ['in the clone on the host', 'clone', 3, onHost],
  ['in PPO on the host', 'ppo', 3, onHost],
] as const)('go on where they were stopped %s, byte for byte', async (_, phase, step, overrides) => {
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

test('on the host are taken by size, are those of a tensor library but for rounding, and open on either', async () => {
  await importTiny();
  const folders = ['auto', 'wasm'].map((backend) => join(folderWith({}), backend));
  const taken: string[] = [];
  for (const [i, backend] of ['auto', 'wasm'].entries()) {
    const given = settings(...onHost, `backend=${backend}`);
    await train({ settings: given, folder: folders[i]!, onBackend: (name) => taken.push(name) });
  }
  expect(taken).toEqual(['host', 'wasm']);
  const figures = folders.map((folder) =>
    readMetrics(join(folder, 'metrics.jsonl')).flatMap(({ metrics }) => metrics['train/loss'] ?? []),
  );
  expect(figures[0]!.length).toBeGreaterThan(3);
  figures[0]!.forEach((loss, i) => expect(loss).toBeCloseTo(figures[1]![i]!, 3));
  const chances = [];
  for (const folder of folders) {
    for (const backend of ['host', 'wasm'] as const) {
      const { actor, close } = await loadLinkWalker(folder, { checkpoint: 'last', backend });
      const task = { id: '0 0' };
      const request = { task, head: 0, relation: 0, current: 0, hop: 0, path: new Int32Array(0), length: 1 };
      chances.push(await actor.parameters.read(() => actor.score([request]).logits()));
      expect(actor.parameters.backend).toBe(backend);
      close();
    }
  }
  for (const logits of chances) expect(logits[0]).toBeCloseTo(chances[0]![0]!, 3);
});

test('on the host have no recurrent cell', async () => {
  await importTiny();
  const folder = join(folderWith({}), 'run');
  await expect(train({ settings: settings('backend=host'), folder })).rejects.toThrow(
    'expected backend=host with policies over vectors, walks of link queries with linkWalker.pathEncoder=mean, or walks of dialogues with walker.head=candidate and walker.text=frozen, alone',
  );
});
