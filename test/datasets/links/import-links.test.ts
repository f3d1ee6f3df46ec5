import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadDialogueDataset } from '../../../datasets/dialogues/dialogue-dataset.js';
import type { AnyImportOptions } from '../../../datasets/importer.js';
import { importLinks } from '../../../datasets/links/import-links.js';
import { type LinkDataset, loadLinkDataset } from '../../../datasets/links/link-dataset.js';
import { linkStatistics } from '../../../datasets/links/link-statistics.js';
import { resolveEntity, resolveRelation } from '../../../datasets/links/resolve-names.js';
import { tinyLinkFiles, tinyLinkNames, tinyLinkWorld } from '../../fixtures/tiny-links.js';
import { folderWith } from '../../fixtures/tiny-release.js';

async function imported(files: Record<string, string | Uint8Array>, options: Partial<AnyImportOptions> = {}) {
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

describe('importing one file of triples', () => {
  /** Twelve entities in a ring, each with an edge to the next four, so many triples can be drawn. Ids are numbers. */
  const ring = Array.from({ length: 12 }, (_, i) =>
    [1, 2, 3, 4].map((step) => `${i}\tnear\t${(i + step) % 12}\n`).join(''),
  ).join('');
  const linesOf = ({ heads, tails }: { heads: Int32Array; tails: Int32Array }) =>
    Array.from(heads, (head, i) => `${head} ${tails[i]}`);

  test.each(['triples.tsv', 'triples.txt', 'train.txt', 'family.tsv'])(
    'draws valid and test of %s by a fixed seed',
    async (file) => {
      const { dataset, manifest } = await imported({ [file]: ring });
      const { train, valid, test: asked } = dataset;
      expect([train.heads.length, valid.heads.length, asked.heads.length]).toEqual([44, 2, 2]);
      expect(new Set([train, valid, asked].flatMap(linesOf)).size).toBe(48);
      expect(manifest.drawn).toEqual({ seed: 0, share: 0.05 });
      const again = await imported({ 'triples.tsv': ring });
      expect(linesOf(again.dataset.valid)).toEqual(linesOf(valid));
      expect(again.manifest.graph.hash).toBe(manifest.graph.hash);
    },
  );

  test('takes a file instead of a folder', async () => {
    const from = join(folderWith({ 'my own.csv': ring }), 'my own.csv');
    const { manifest } = await imported({}, { from });
    expect(manifest).toMatchObject({ splits: { train: { triples: 44 } }, sources: [{ file: 'my own.csv' }] });
  });

  test('reads other entities as a second data set, under the same relation ids, and refuses shared ones', async () => {
    const moved = (lines: string) => lines.replace(/^(\d+)\t(\w+)\t(\d+)$/gm, 'n$1\t$2\tn$3');
    const second = folderWith({
      'train.txt': `n0\tfar\tn7\n${moved(ring)}`,
      'valid.txt': 'n1\tnear\tn9\n',
      'test.txt': 'n2\tnear\tn9\n',
    });
    const { home, dataset, manifest } = await imported({ 'triples.tsv': ring }, { unseenFrom: second });
    const other = await loadLinkDataset('tiny-unseen', { home });
    expect(manifest.apart).toEqual({ side: 'seen', beside: 'tiny-unseen' });
    expect(other.manifest.apart).toEqual({ side: 'unseen', beside: 'tiny' });
    expect(other.manifest.drawn).toBeUndefined();
    expect(dataset.graph.relationNames).toEqual(['near', 'far', '~near', '~far']);
    expect(other.graph.relationNames).toEqual(dataset.graph.relationNames);
    const named = linesOf(other.test).map((line) => line.split(' ').map((id) => other.graph.entityName(Number(id))));
    expect(named).toEqual([['n2', 'n9']]);
    const shared = folderWith({ 'triples.tsv': ring });
    await expect(imported({ 'triples.tsv': ring }, { unseenFrom: shared })).rejects.toThrow(
      /^expected other entities, got 12 that are in .* too, such as "0", at /,
    );
  });

  test('leaves every entity and relation a triple in train', async () => {
    const leaves = Array.from({ length: 60 }, (_, i) => `${i % 12}\tleaf\tl${i}\n`).join('');
    const { manifest } = await imported({ 'triples.tsv': `${ring}${leaves}0\tonce\t5\n` });
    const { valid, test: asked } = manifest.splits;
    expect([valid.triples, asked.triples]).toEqual([5, 5]);
    expect(valid).toMatchObject({ unseenEntities: 0, unseenRelations: 0 });
    expect(asked).toMatchObject({ unseenEntities: 0, unseenRelations: 0 });
  });

  test('refuses what can spare nothing', async () => {
    await expect(imported({ 'train.txt': 'a\tr\tb\nc\tr\td\n' })).rejects.toThrow(
      /expected triples that valid and test can be drawn from, got 2 .*train\.txt$/,
    );
  });

  test('reads ~r as r the other way round, so that no triple is in two splits', async () => {
    const [plain] = await Promise.all([imported({ 'triples.tsv': ring })]);
    const both = ring.replace(/(\d+)\tnear\t(\d+)\n/g, '$1\tnear\t$2\n$2\t~near\t$1\n');
    const { dataset, manifest } = await imported({ 'triples.tsv': both });
    expect(dataset.graph.relationNames).toEqual(['near', '~near']);
    expect(manifest.splits.train).toMatchObject({ duplicates: 48, inverseLines: 48 });
    expect(linesOf(dataset.test).length).toBe(linesOf(plain.dataset.test).length);
  });

  test('takes | where the first line has no TAB, CRLF, a byte order mark, and archives', async () => {
    const { dataset } = await imported({
      'triples.txt': `\ufeff${ring.replaceAll('\t', '|').replaceAll('\n', '\r\n')}`,
    });
    expect(dataset.graph.entityNames).toContain('11');
    const packed = await imported({ 'train.tsv.gz': gzipSync(ring) });
    expect(packed.manifest.graph.hash).toBe(dataset.manifest.graph.hash);
    expect(packed.manifest.graph.madeFrom).toEqual(['train.tsv.gz']);
  });
});

describe('what valid and test are like is counted', () => {
  test('entities and relations that train lacks, pairs the other way round', async () => {
    const { manifest, dataset } = await imported({
      'train.txt': 'a\tr\tb\nb\ts\tc\nd\tr\ta\n',
      // New entities; a new relation; train pairs in the other direction, by another and by the same relation; pairs in the same
      // direction.
      'valid.txt': 'a\tr\tx\nx\tr\ty\n',
      'test.txt': 'a\tq\tc\nb\ts\ta\nb\tr\ta\nc\tr\td\nb\tr\tc\nd\ts\ta\n',
    });
    expect(manifest.splits.valid).toEqual({
      ...{ triples: 2, duplicates: 0, inverseLines: 0 },
      ...{ unseenEntities: 2, triplesOfUnseenEntities: 2, unseenRelations: 0, triplesOfUnseenRelations: 0 },
      ...{ reversedInTrain: 0, symmetricInTrain: 0 },
    });
    expect(manifest.splits.test).toMatchObject({
      ...{ unseenEntities: 0, triplesOfUnseenEntities: 0, unseenRelations: 1, triplesOfUnseenRelations: 1 },
      ...{ reversedInTrain: 2, symmetricInTrain: 1 },
    });
    expect(dataset.graph.degree(dataset.graph.entityId('x'))).toBe(0);
    expect(dataset.graph.numRelations).toBe(6);
  });

  test('repeated lines are left out', async () => {
    const { manifest } = await imported({ ...three, 'train.txt': 'a\tr\tb\nb\tr\tc\na\tr\tb\n' });
    expect(manifest.splits.train).toEqual({ triples: 2, duplicates: 1, inverseLines: 0 });
  });

  test('names: several of one name, none, a blank one, one of no entity', async () => {
    const names = 'a\tAnn\nb\tAnn\nc\t \nz\tZoe\na\tAnn\n';
    const { manifest, dataset } = await imported({ ...three, 'names.tsv': names });
    expect(manifest.names).toEqual({ named: 2, unnamed: 1, shared: 2, unused: 1 });
    expect(dataset.labels).toEqual(['Ann', 'Ann', 'c']);
  });
});

describe('bad link data', () => {
  test.each([
    ['no file', {}, /expected triples \(train\.txt or .*\), got none, at /],
    ['valid without test', { 'train.txt': 'a\tr\tb\n', 'valid.txt': 'b\tr\ta\n' }, /got valid without test, at /],
    ['no training triple', { ...three, 'train.txt': '\n' }, /expected triples, got none, at .*train\.txt$/],
    ['an empty test', { ...three, 'test.txt': '' }, /expected triples, got none, at .*test\.txt$/],
    ['one entity', { ...three, 'train.txt': 'a\tr\ta\n' }, /expected at least two entities, got "a" alone, at .*train/],
    [
      'names with tabs, blank fields, no relation',
      { ...three, 'train.txt': 'a\tr\tb\nNew\tYork\tr\tb\na\t \tb\na\t~\tb\n' },
      /3 broken lines:\n.*train\.txt:2: expected 3 fields, got 4 .*\n.*train\.txt:3: .*blank.*\n.*:4: expected a relation's name after ~, got "~"/,
    ],
    ['bytes that are no text', { ...three, 'test.txt': new Uint8Array([0x61, 0xff, 0x0a]) }, /UTF-8.*test\.txt:1/],
    [
      'a display name with a TAB',
      { ...three, 'names.tsv': 'a\tAnn\tB\n' },
      /names\.tsv:1: expected an id, a TAB and a name/,
    ],
    ['two names of one id', { ...three, 'names.tsv': 'a\tAnn\na\tBo\n' }, /names\.tsv:2: .*got "Bo" after "Ann"/],
  ])('%s', async (_, files: Record<string, string | Uint8Array>, message) => {
    await expect(imported(files)).rejects.toMatchObject({ code: 'data', message: expect.stringMatching(message) });
  });

  test('the same triple in two splits is refused, or kept and counted', async () => {
    const files = { ...three, 'train.txt': `${three['train.txt']}a\tr\tc\n`, 'test.txt': 'c\tr\ta\nb\tr\tc\n' };
    await expect(imported(files)).rejects.toThrow(
      /^expected each triple in one split, got 1 in both train\.txt and valid\.txt, such as a r c, at /,
    );
    const { manifest } = await imported(files, { allowOverlap: true });
    expect(manifest.overlaps).toEqual({ trainValid: 1, trainTest: 1, validTest: 0 });
  });

  test('a refused import leaves the data set of that name as it was', async () => {
    const { home } = await imported(three);
    await expect(importLinks({ from: folderWith({ ...three, 'train.txt': '' }), name: 'tiny', home })).rejects.toThrow(
      /got none/,
    );
    expect((await loadLinkDataset('tiny', { home })).train.heads.length).toBe(2);
  });
});

describe('loading', () => {
  test('refuses another kind, and files that are not those that were imported', async () => {
    const { home, dataset } = await imported(three);
    await expect(loadLinkDataset('tinny', { home })).rejects.toMatchObject({ hint: 'Did you mean "tiny"?' });
    expect(() => loadDialogueDataset('tiny', { home })).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^expected a data set of dialogues, got "tiny" of links, at /),
        hint: expect.stringContaining('env.id=kgwalk/LinkQuery-v1'),
      }),
    );
    const file = join(dataset.folder, 'triples-test.bin');
    writeFileSync(file, Buffer.alloc(12));
    await expect(loadLinkDataset('tiny', { home })).rejects.toThrow(/altered one, at .*triples-test\.bin$/);
    rmSync(file);
    await expect(loadLinkDataset('tiny', { home })).rejects.toThrow(/got nothing, at .*triples-test\.bin$/);
  });
});

describe('statistics of links', () => {
  async function statisticsOf(files: Record<string, string>) {
    const home = folderWith({});
    await importLinks({ from: folderWith(files), name: 'tiny', home });
    return linkStatistics(await loadLinkDataset('tiny', { home }));
  }

  describe('statistics of links', () => {
    test('count hubs, answers and relations', async () => {
      const { degree, answers, relations, names, drawn } = await statisticsOf(tinyLinkFiles);
      expect(drawn).toBeNull();
      expect(names.shared).toBe(2);
      // 60 edges of 16 entities; t1 has three births, five residents and its country.
      expect(degree).toMatchObject({ mean: 60 / 16, max: 9 });
      // Every person has one country, and c0, queried twice, six citizens over all splits.
      expect(answers.test).toMatchObject({ tail: { mean: 1, max: 1 }, head: { mean: 6, max: 6 } });
      expect(relations.map(({ relation, train, valid, test, kind }) => [relation, train, valid, test, kind])).toEqual([
        ['born_in', 10, 0, 0, 'N-1'],
        ['lives_in', 10, 0, 0, 'N-1'],
        ['citizen_of', 6, 2, 2, 'N-1'],
        ['lies_in', 4, 0, 0, 'N-1'],
      ]);
    });

    test('classify relations by cardinality', async () => {
      const { relations } = await statisticsOf({
        'train.txt': [
          ...['a one b', 'c one d', 'a fan b', 'a fan c', 'e fan f', 'e fan g'],
          ...['a all b', 'a all c', 'd all b', 'd all c'],
        ]
          .map((line) => `${line.replaceAll(' ', '\t')}\n`)
          .join(''),
        'valid.txt': 'a\tnew\td\n',
        'test.txt': 'b\tone\tc\n',
      });
      const kinds = relations.map(({ relation, tailsPerHead, headsPerTail, kind }) => [
        relation,
        tailsPerHead,
        headsPerTail,
        kind,
      ]);
      expect(kinds).toEqual([
        ['all', 2, 2, 'N-N'],
        ['fan', 2, 1, '1-N'],
        ['one', 1, 1, '1-1'],
        ['new', 0, 0, null],
      ]);
    });
  });
});

describe('names of entities and relations', () => {
  let dataset: LinkDataset;

  beforeAll(async () => {
    const home = folderWith({});
    // The id of one entity is the name of another.
    const names = `${tinyLinkFiles['entity2text.txt']}p9\tc0\n`;
    await importLinks({ from: folderWith({ ...tinyLinkFiles, 'entity2text.txt': names }), name: 'tiny', home });
    dataset = await loadLinkDataset('tiny', { home });
  });

  describe('resolveEntity', () => {
    test.each([
      ['an id', 'p3', 'p3'],
      ['an id before a name', 'c0', 'c0'],
      ['a name', 'Ada Quill', 'p0'],
      ['a name in other letters', 'the ada  QUILL', 'p0'],
    ])('%s', (_, text, id) => {
      expect(dataset.graph.entityName(resolveEntity(dataset, text))).toBe(id);
    });

    test('lists the ids of several with one name', () => {
      expect(() => resolveEntity(dataset, 'Milton')).toThrow(
        'expected one entity, got "Milton", the name of 2: t1, t2',
      );
    });

    test.each([
      ['Ada Quil', 'Did you mean "Ada Quill"?'],
      ['Marsh', 'Did you mean "Dot Marsh"?'],
      ['ivy', 'Did you mean "Ivy Stone"?'],
      ['Byron the Great', 'Give its id or its name.'],
      ['', 'Give its id or its name.'],
      // No index: ids are names of the source.
      ['3', 'Give its id or its name.'],
    ])('refuses %j', (text, hint) => {
      expect(() => resolveEntity(dataset, text)).toThrow(
        expect.objectContaining({ code: 'usage', message: `expected an entity of tiny, got "${text}"`, hint }),
      );
    });
  });

  describe('resolveRelation', () => {
    test('knows relations and their inverses', () => {
      expect(resolveRelation(dataset, 'lies_in')).toBe(2);
      expect(resolveRelation(dataset, '~lies_in')).toBe(6);
    });

    test.each([
      ['lys_in', 'Did you mean "lies_in"?'],
      ['citizen', 'Did you mean "citizen_of"?'],
      ['zen_of', 'Did you mean "citizen_of" or "~citizen_of"?'],
      ['directed_by', 'Relations: `kgwalk datasets stats tiny`.'],
    ])('refuses %s', (text, hint) => {
      expect(() => resolveRelation(dataset, text)).toThrow(expect.objectContaining({ code: 'usage', hint }));
    });
  });
});
