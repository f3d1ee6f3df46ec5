import { describe, expect, test } from '@jest/globals';
import { importLinks, type LinkImportOptions } from '../../../datasets/links/import-links.js';
import { loadLinkDataset } from '../../../datasets/links/link-dataset.js';
import { tinyLinkFiles, tinyLinkNames, tinyLinkWorld } from '../../fixtures/tiny-links.js';
import { folderWith } from '../../fixtures/tiny-release.js';

async function imported(files: Record<string, string | Uint8Array>, options: Partial<LinkImportOptions> = {}) {
  const home = folderWith({});
  const manifest = await importLinks({ from: folderWith(files), name: 'tiny', home, ...options });
  return { home, manifest, dataset: await loadLinkDataset('tiny', { home }) };
}

const three = { 'train.txt': 'a\tr\tb\nb\tr\tc\n', 'valid.txt': 'a\tr\tc\n', 'test.txt': 'c\tr\ta\n' };

describe('importing triples', () => {
  test('gives the graph of train with the entities of all splits, by the ids of first appearance', async () => {
    const { dataset, manifest } = await imported(tinyLinkFiles);
    const world = tinyLinkWorld();
    expect(dataset.graph.entityNames).toEqual(world.graph.entityNames);
    expect(dataset.graph.relationNames).toEqual(world.graph.relationNames);
    for (const rows of ['offsets', 'relations', 'tails'] as const) {
      expect([...dataset.graph[rows]]).toEqual([...world.graph[rows]]);
    }
    for (const split of ['train', 'valid', 'test'] as const) expect(dataset[split]).toEqual(world[split]);
    expect(dataset.manifest).toEqual(manifest);
    expect(manifest.graph).toMatchObject({ entities: 16, relations: 4, edges: 60, madeFrom: ['train.txt'] });
    expect(manifest.names).toEqual({ named: 15, unnamed: 1, shared: 2, unused: 0 });
    expect(dataset.labels).toEqual(dataset.graph.entityNames.map((id) => tinyLinkNames[id] ?? id));
  });

  test('knows the answers of relations and of their inverses', async () => {
    const { dataset } = await imported(three);
    const { known, trainKnown } = dataset;
    const [a, b, c] = ['a', 'b', 'c'].map((name) => dataset.graph.entityId(name)) as [number, number, number];
    expect([...known.tailsOf(a, 0)]).toEqual([b, c]);
    expect([...known.tailsOf(a, 1)]).toEqual([...known.headsOf(0, a)]);
    expect([...known.headsOf(0, a)]).toEqual([c]);
    expect([...known.headsOf(1, a)]).toEqual([b, c]);
    expect([...trainKnown.tailsOf(a, 0)]).toEqual([b]);
    expect([...trainKnown.tailsOf(a, 1)]).toEqual([]);
  });
});
