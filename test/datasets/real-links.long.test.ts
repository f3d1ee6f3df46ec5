import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { importLinks } from '../../datasets/links/import-links.js';
import { loadLinkDataset, type LinkDataset } from '../../datasets/links/link-dataset.js';
import { linkStatistics } from '../../datasets/links/link-statistics.js';
import { resolveEntity, resolveRelation } from '../../datasets/links/resolve-names.js';
import { folderWith } from '../fixtures/tiny-release.js';

const shared = env.KGWALK_TEST_DATA;
if (!shared) stderr.write('skipped: link data itself (set KGWALK_TEST_DATA to the folder that holds data/umls)\n');

async function imported(name: string): Promise<LinkDataset> {
  const home = folderWith({});
  await importLinks({ from: join(shared ?? '', 'data', name), name: 'links', home });
  return loadLinkDataset('links', { home });
}

const none = { unseenEntities: 0, unseenRelations: 0 };

(shared ? describe : describe.skip)('link data itself', () => {
  test.each([
    ['umls', { entities: 135, relations: 46, edges: 10432 }, [5216, 652, 661], [224, 270], [81, 97]],
    ['kinship', { entities: 104, relations: 25, edges: 17088 }, [8544, 1068, 1074], [869, 875], [237, 254]],
    ['countries/S1', { entities: 271, relations: 2, edges: 2220 }, [1110, 24, 24], [0, 0], [0, 0]],
  ])('%s has the known counts', async (name, graph, counts, reversed, symmetric) => {
    const { manifest } = await imported(name);
    const { train, valid, test: asked } = manifest.splits;
    expect(manifest.graph).toMatchObject(graph);
    expect([train, valid, asked].map(({ triples }) => triples)).toEqual(counts);
    expect([valid, asked]).toEqual([expect.objectContaining(none), expect.objectContaining(none)]);
    expect([valid.reversedInTrain, asked.reversedInTrain]).toEqual(reversed);
    expect([valid.symmetricInTrain, asked.symmetricInTrain]).toEqual(symmetric);
    expect(manifest.overlaps).toEqual({ trainValid: 0, trainTest: 0, validTest: 0 });
  });

  test('any file of triples becomes link data, and names may be in any script', async () => {
    const home = folderWith({});
    const from = join(shared ?? '', 'data', 'mooccube', 'triples_structural.tsv');
    const { splits, graph } = await importLinks({ from, name: 'links', home });
    expect([splits.train, splits.valid, splits.test].map(({ triples }) => triples)).toEqual([26874, 1493, 1493]);
    expect(graph).toMatchObject({ entities: 25840, relations: 4 });
    expect(splits.test).toMatchObject(none);
  });

  test('fb15k-237 has the known counts, and its names find entities', async () => {
    const dataset = await imported('fb15k-237');
    const { graph, splits, names, overlaps } = dataset.manifest;
    expect(graph).toMatchObject({ entities: 14541, relations: 237, edges: 2 * 272115 });
    expect(splits).toMatchObject({
      train: { triples: 272115, duplicates: 0 },
      // By construction no pair of valid or test is linked in train.
      valid: { triples: 17535, unseenEntities: 8, triplesOfUnseenEntities: 9, reversedInTrain: 0 },
      test: { triples: 20466, unseenEntities: 29, triplesOfUnseenEntities: 28, reversedInTrain: 0 },
    });
    expect(overlaps).toEqual({ trainValid: 0, trainTest: 0, validTest: 0 });
    expect(names).toEqual({ named: 14541, unnamed: 0, shared: 499, unused: 410 });
    expect(dataset.graph.entityName(resolveEntity(dataset, 'Tom Hanks'))).toBe('/m/0bxtg');
    expect(() => resolveEntity(dataset, 'Hamlet')).toThrow(/the name of 3: \/m\/\w+, \/m\/\w+, \/m\/\w+$/);
    const film = resolveRelation(dataset, '/film/actor/film./film/performance/film');
    expect(resolveRelation(dataset, '~/film/actor/film./film/performance/film')).toBe(film + 237);
    const { degree, answers } = linkStatistics(dataset);
    expect(degree.max).toBe(7614);
    expect(answers.test.head.max).toBe(4364);
  });
});
