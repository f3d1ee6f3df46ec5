import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { runSettings } from '../../presets/index.js';
import { loadConfig } from '../../src/run/config.js';
import { openLinkTraining } from '../../agents/link-training.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith } from '../fixtures/tiny-release.js';

useOwnHome();

const importTiny = (...flags: string[]) =>
  kgwalk('datasets', 'import', 'triples', '--from', folderWith(tinyLinkFiles), '--name', 'tiny', ...flags);

describe('kgwalk datasets, on links', () => {
  test('import shows counts, what train lacks, the graph and its names', async () => {
    const { out, exitCode } = await importTiny();
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^imported tiny · licence: as its source says\n/);
    expect(out).toMatch(/train +30 +0 +0\nvalid +2 +0 +0\ntest +2 +0 +0\n/);
    expect(out).toMatch(/entities not in train +0 +0\n/);
    expect(out).toContain('graph train: 16 entities, 4 relations, 60 edges, inverses (~relation) among them\n');
    expect(out).toContain('names: 15 entities, 1 are shown by their ids; 2 share theirs, 0 of no entity here\n');
  });

  test('list, stats and check know the kind', async () => {
    await importTiny();
    expect((await kgwalk('datasets', 'list')).out).toMatch(/tiny +links 30 \/ 2 \/ 2 +train +as its source says/);
    const stats = (await kgwalk('datasets', 'stats', 'tiny')).out;
    expect(stats).toMatch(/test, tails +1\.0 \/ 1 \/ 1 \/ 1\n/);
    expect(stats).toMatch(/born_in +10 +0 +0 +1\.00 +2\.50 +N-1\n/);
    const { relations } = await kgwalkJson<{ relations: object[] }>('datasets', 'stats', 'tiny');
    expect(relations).toHaveLength(4);
    expect((await kgwalk('datasets', 'check', 'tiny')).out).toBe('tiny: 5 files as imported\n');
  });

  test('check reports a file that was altered', async () => {
    const { name } = await kgwalkJson<{ name: string }>(
      ...['datasets', 'import', 'triples', '--name', 'tiny', '--from', folderWith(tinyLinkFiles)],
    );
    writeFileSync(join(process.env.KGWALK_HOME!, 'datasets', name, 'labels.jsonl'), '');
    const { exitCode, err } = await kgwalk('datasets', 'check', 'tiny');
    expect(exitCode).toBe(3);
    expect(err).toMatch(/labels\.jsonl was altered/);
  });

  test('what was drawn and what overlaps is said', async () => {
    const ring = Array.from({ length: 40 }, (_, i) => `${i % 8}\tnear\t${(i * 3 + (i >> 3)) % 8}\n`).join('');
    const ringFile = join(folderWith({ 'Ring.tsv': ring }), 'Ring.tsv');
    const drawn = await kgwalk('datasets', 'import', 'triples', '--from', ringFile);
    expect(drawn.out).toMatch(/^imported Ring [^]*valid and test were drawn: 5 % of the triples each, seed 0\n/);
    const files = { 'train.txt': 'a\tr\tb\nb\tr\tc\n', 'valid.txt': 'a\tr\tb\n', 'test.txt': 'c\tr\ta\n' };
    const from = ['datasets', 'import', 'triples', '--name', 'triples', '--from', folderWith(files)];
    expect(await kgwalk(...from)).toMatchObject({
      exitCode: 3,
      err: expect.stringMatching(/expected each triple in one split, got 1 in both [^]*--allow-overlap/),
    });
    const { out } = await kgwalk(...from, '--allow-overlap');
    expect(out).toContain('in two splits: 1 in train and valid, 0 in train and test, 0 in valid and test\n');
    expect(await kgwalk('datasets', 'import', 'metaqa', '--from', 'x', '--allow-overlap')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('expected --allow-overlap with triples, got it with metaqa'),
    });
  });

  test('names with control characters never reach the terminal as such', async () => {
    const files = { ...tinyLinkFiles, 'test.txt': 'p0\tci\u001b[2Jty\tc0\n' };
    await kgwalk('datasets', 'import', 'triples', '--name', 'triples', '--from', folderWith(files));
    const { out } = await kgwalk('datasets', 'stats', 'triples');
    expect(out).toContain('ci\\u001b[2Jty');
    expect(out).not.toContain('\u001b');
  });
});

describe('notes on training data', () => {
  const notesOf = async (...overrides: string[]) => {
    const settings = loadConfig(runSettings, { overrides: ['data.dataset=tiny', ...overrides] });
    return (await openLinkTraining(settings)).notes;
  };

  test('count queries and say what is hidden', async () => {
    await importTiny();
    expect(await notesOf()).toEqual([
      '60 train queries (tails and heads of 30 triples) and 2 valid triples on graph train: 16 entities, 60 edges with inverses',
      'hidden from a train query: its own edge and the inverse (another edge of train between the two have 0.0 % of train and 0.0 % of valid)',
    ]);
    expect((await notesOf('linkWalk.bothDirections=false'))[0]).toMatch(/^30 train queries \(tails of 30 triples\)/);
  });

  test('notes what stands in train, too', async () => {
    const files = { 'train.txt': 'a\tr\tb\nb\tr\tc\n', 'valid.txt': 'a\tr\tb\n', 'test.txt': 'a\tr\tc\n' };
    await kgwalk(
      ...['datasets', 'import', 'triples', '--from', folderWith(files), '--name', 'tiny', '--allow-overlap'],
    );
    expect((await notesOf()).slice(1, -1)).toEqual(['of valid 1 and of test 0 triples are in train, too']);
  });

  test('notes what makes scores hard to trust', async () => {
    const files = { 'train.txt': 'a\tr\tb\nb\tr\tc\n', 'valid.txt': 'b\tr\ta\n', 'test.txt': 'c\tq\tx\n' };
    await kgwalk('datasets', 'import', 'triples', '--from', folderWith(files), '--name', 'tiny');
    expect((await notesOf()).slice(1, -1)).toEqual([
      'of valid 0 and of test 1 triples have an entity that is not in train, and rank last',
      'of valid 0 and of test 1 triples have a relation that is not in train',
      'of valid 1 and of test 0 triples are pairs that train links in the other direction',
    ]);
  });
});
