/** Runs with linked turns and pair features: what they read, and what is refused. */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { edgeFeatureNames } from '../../agents/walker/features/edge-features.js';
import { pairFeatureNames } from '../../agents/walker/features/pair-features.js';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { readIndex } from '../../checkpoints/store.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { train } from '../../tasks/train.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { tinySettings } from '../fixtures/tiny-training.js';

const settings = (...more: string[]) =>
  tinySettings('transe.enabled=false', 'clone.linkedTurns={}', 'walker.pairFeatures=wide', ...more);

const home = useReleaseHome();
let unbroken: string;

beforeAll(async () => {
  unbroken = join(home(), 'unbroken');
  await train({ settings: settings(), folder: unbroken });
});

test('its network reads the features and one more scalar, those of a run without read neither', async () => {
  const plain = join(home(), 'plain');
  await train({ settings: tinySettings('transe.enabled=false', 'ppo.enabled=false'), folder: plain });
  const rowsOf = (folder: string, name: string) =>
    readCheckpoint(readIndex(folder).checkpoints.at(-1)!.file).tensors[name]!.shape[0]!;
  expect(rowsOf(plain, 'edge.features')).toBe(edgeFeatureNames.length);
  expect(rowsOf(unbroken, 'edge.features')).toBe(edgeFeatureNames.length + pairFeatureNames.length);
  expect(rowsOf(unbroken, 'trunk.1') - rowsOf(plain, 'trunk.1')).toBe(1);
});

describe('are refused', () => {
  test('without the features that they accompany, and where every state is read', async () => {
    const refused = (...more: string[]) => train({ settings: settings(...more), folder: join(home(), 'refused') });
    await expect(refused('walker.edgeFeatures=false')).rejects.toThrow(
      'expected walker.edgeFeatures=true with walker.pairFeatures=wide, which extend them, got false',
    );
    await expect(refused('stateText.encode=per-step')).rejects.toThrow(
      'expected stateText.encode=once with walker.pairFeatures=wide, got per-step',
    );
  });

  test('where the data set has no wider graph; without its degrees they are there', async () => {
    const { 'opendialkg_triples_wide.txt': _, ...files } = releaseFiles;
    await importOpenDialKg({ from: folderWith(files), name: 'narrow' });
    const onNarrow = (...more: string[]) =>
      train({
        settings: settings('data.dataset=narrow', 'ppo.enabled=false', ...more),
        folder: join(home(), `narrow-${more.length}`),
      });
    await expect(onNarrow()).rejects.toThrow(
      'expected a data set with the graph wide, got narrow, which has dialogue, at walker.pairFeatures',
    );
    await onNarrow('walker.pairFeatures=graph');
  });
});
