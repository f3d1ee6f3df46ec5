import { listDatasets } from '../../../datasets/dataset.js';
import { describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkDialogueDataset, loadDialogueDataset } from '../../../datasets/dialogues/dialogue-dataset.js';
import { splitOf, importOpenDialKg } from '../../../datasets/opendialkg/import.js';
import {
  csvOf,
  folderWith,
  longDialogue,
  missDialogue,
  releaseFiles,
  say,
  shortDialogue,
  tripleLines,
} from '../../fixtures/tiny-release.js';

type Files = Record<string, string>;

const importFiles = (files: Files, home = folderWith({}), name?: string) =>
  importOpenDialKg({ from: folderWith(files), home, ...(name && { name }) });

const { 'opendialkg_triples_wide.txt': _wide, ...narrowFiles } = releaseFiles;

describe('importing a release', () => {
  test('writes dialogues, graphs and a manifest that load again', async () => {
    const home = folderWith({});
    const manifest = await importFiles(releaseFiles, home);
    expect(manifest.splits).toEqual({
      train: { dialogues: 2, messages: 4, paths: 3 },
      valid: { dialogues: 1, messages: 2, paths: 2 },
      test: { dialogues: 1, messages: 1, paths: 1 },
    });
    expect(manifest.licence).toMatch(/CC-BY-NC-4\.0/);
    expect(manifest.graphs.dialogue).toMatchObject({ entities: 4, relations: 4, triples: 6, blankLines: 0 });
    expect(manifest.graphs.dialogue!.note).toMatch(/100\.0 % .*entity-level counts leak/);
    expect(manifest.graphs.wide).toMatchObject({ entities: 5, relations: 6, triples: 8, blankLines: 1 });

    const dataset = loadDialogueDataset('opendialkg', { home });
    expect(dataset.manifest).toEqual(manifest);
    expect(dataset.loadDialogues('train').map(({ id }) => id)).toEqual(['train-1', 'train-2']);
    const graph = await dataset.loadGraph('wide');
    expect(graph.hash).toBe(manifest.graphs.wide!.hash);
    expect(await checkDialogueDataset('opendialkg', { home })).toMatchObject({ problems: [] });
    expect(listDatasets(['dialogues'], { home }).map(({ name }) => name)).toEqual(['opendialkg']);
  });

  test('gives equal bytes for equal sources', async () => {
    const [first, second] = [await importFiles(releaseFiles), await importFiles(releaseFiles)];
    expect(first).toEqual(second);
  });

  test('never adds inverses where the files hold them, adds them where they hold one direction', async () => {
    const oneWay = tripleLines.filter((line) => !line.includes('\t~')).join('\n');
    const { graphs, licence } = await importFiles({ 'talks.csv': csvOf(manyDialogues()), 'triples.txt': oneWay });
    expect(graphs.dialogue!.triples).toBe(6);
    expect(graphs.dialogue!.note).toMatch(/inverses .* were added/);
    expect(licence).toBe('as its source says');
    expect((await importFiles(releaseFiles)).graphs.dialogue!.note).not.toMatch(/inverses/);
  });

  test('B-ARK-5: splits a single file by dialogue hash, independent of order, dialogues whole', async () => {
    const conversations = manyDialogues();
    const triples = { 'opendialkg_triples.txt': tripleLines.join('\n') };
    const texts = async (order: unknown[]) => {
      const home = folderWith({});
      const { splitBy } = await importFiles({ ...triples, 'opendialkg.csv': csvOf(order) }, home);
      expect(splitBy).toBe('dialogue hash');
      const dataset = loadDialogueDataset('opendialkg', { home });
      return dataset.loadDialogues('valid').map(({ messages }) => messages[0]!.text);
    };
    const valid = await texts(conversations);
    expect((await texts(conversations.toReversed())).sort()).toEqual(valid.sort());
    expect(valid.length).toBeGreaterThan(0);
  });

  test('about 70, 15 and 15 of a hundred dialogues', () => {
    const splits = Array.from({ length: 1000 }, (_, i) =>
      splitOf({ messages: [{ sender: 'user', text: `talk ${i}` }] }),
    );
    const share = (split: string) => splits.filter((one) => one === split).length / 1000;
    expect(Math.abs(share('train') - 0.7)).toBeLessThan(0.05);
    expect(Math.abs(share('valid') - 0.15)).toBeLessThan(0.04);
  });

  test('imports custom dialogues as JSON under another name', async () => {
    const home = folderWith({});
    const json = { 'train.json': [shortDialogue], 'valid.json': [longDialogue], 'test.json': [missDialogue] };
    const files = Object.fromEntries(Object.entries(json).map(([name, talks]) => [name, JSON.stringify(talks)]));
    await importFiles({ ...files, 'triples.txt': tripleLines.join('\n') }, home, 'my-talks');
    expect(loadDialogueDataset('my-talks', { home }).loadDialogues('valid')[0]!.id).toBe('valid-1');
  });
});

describe('bad input', () => {
  const changed = (change: Files) => ({ ...releaseFiles, ...change });
  const without = (name: string) => Object.fromEntries(Object.entries(releaseFiles).filter(([key]) => key !== name));

  test.each<[string, Files, RegExp]>([
    [
      'broken JSON',
      changed({ 'valid.csv': 'Messages\n"[{"\n' }),
      /expected JSON, got .* at .*valid\.csv, row 1 \(line 2\)/,
    ],
    ['two fields', changed({ 'opendialkg_triples.txt': 'a\tmade_by\n' }), /got 2 .* at .*opendialkg_triples\.txt:1/],
    [
      'an unknown relation',
      changed({ 'opendialkg_triples.txt': `${tripleLines[0]}\nx\tmade_bi\ty\n` }),
      /expected a relation of the release's list, got "made_bi", at .*opendialkg_triples\.txt:2/,
    ],
    ['a missing split', without('test.csv'), /expected one test file, got none/],
    ['two files of a split', changed({ 'test.json': '[]' }), /got test\.csv and test\.json/],
    ['missing triples', without('opendialkg_triples.txt'), /expected opendialkg_triples\.txt/],
    ['empty triples', changed({ 'opendialkg_triples.txt': '' }), /expected triples, got none/],
    ['an empty split', changed({ 'test.csv': csvOf([]) }), /in split test, got no dialogue, at .*test\.csv/],
    [
      'a split without paths',
      changed({ 'test.csv': csvOf([[say('user', 'hi')]]) }),
      /got 1 dialogues without any path/,
    ],
    [
      'a folder of other things',
      { 'notes.txt': 'x' },
      /expected opendialkg_triples\.txt or triples\.txt, got notes\.txt/,
    ],
    [
      'two dialogue files',
      { 'a.csv': '', 'b.csv': '', 'triples.txt': '' },
      /expected one file of dialogues, got a\.csv, b\.csv/,
    ],
  ])('%s is one clear error, and nothing is written', async (_, files, reason) => {
    const home = folderWith({});
    await expect(importFiles(files, home)).rejects.toThrow(reason);
    await expect(importFiles(files, home)).rejects.toMatchObject({ code: 'data', hint: expect.any(String) });
    expect(readdirSync(home)).toEqual([]);
  });

  test('the nearest relation is offered', async () => {
    const files = changed({ 'opendialkg_triples.txt': 'x\tmade_bi\ty\n' });
    await expect(importFiles(files)).rejects.toMatchObject({ hint: 'Did you mean "made_by"?' });
  });

  test('a folder that is missing, or a file', async () => {
    const missing = join(folderWith({}), 'gone');
    await expect(importOpenDialKg({ from: missing, home: folderWith({}) })).rejects.toThrow(/got nothing, at .*gone/);
    const file = join(folderWith({ 'x.csv': '' }), 'x.csv');
    await expect(importOpenDialKg({ from: file, home: folderWith({}) })).rejects.toThrow(/got a file, at/);
  });

  test.each(['../up', '', '.hidden', 'a/b', 'a\u001b'])('the name %j', async (name) => {
    await expect(
      importOpenDialKg({ from: folderWith(releaseFiles), home: folderWith({}), name }),
    ).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('importing again', () => {
  test('replaces all of the old data set', async () => {
    const home = folderWith({});
    await importFiles(releaseFiles, home);
    await importFiles({ ...narrowFiles, 'valid.csv': csvOf([shortDialogue]) }, home);
    const folder = join(home, 'datasets', 'opendialkg');
    expect(readdirSync(join(home, 'datasets'))).toEqual(['opendialkg']);
    expect(existsSync(join(folder, 'graph-wide.bin'))).toBe(false);
    expect(loadDialogueDataset('opendialkg', { home }).manifest.splits.valid.paths).toBe(1);
    await expect(loadDialogueDataset('opendialkg', { home }).loadGraph('wide')).rejects.toMatchObject({
      code: 'config',
    });
  });

  test('leaves the old one when it fails, and clears what a killed import left', async () => {
    const home = folderWith({});
    const before = await importFiles(releaseFiles, home);
    mkdirSync(join(home, 'datasets', '.opendialkg.new'));
    await expect(importFiles({ ...releaseFiles, 'test.csv': '' }, home)).rejects.toMatchObject({ code: 'data' });
    const dataset = loadDialogueDataset('opendialkg', { home });
    expect(dataset.manifest).toEqual(before);
    expect(await checkDialogueDataset('opendialkg', { home })).toMatchObject({ problems: [] });
    await importFiles(releaseFiles, home);
    expect(readdirSync(join(home, 'datasets'))).toEqual(['opendialkg']);
  });
});

describe('a data set that was damaged', () => {
  test('is found by the check, and refused when loaded', async () => {
    const home = folderWith({});
    await importFiles(releaseFiles, home);
    const dataset = loadDialogueDataset('opendialkg', { home });
    const file = join(dataset.folder, 'dialogues.train.jsonl');
    const [first] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, `${first}\n`);
    const { problems } = await checkDialogueDataset('opendialkg', { home });
    expect(problems).toEqual([expect.stringMatching(/dialogues\.train\.jsonl was altered/)]);
    expect(() => dataset.loadDialogues('train')).toThrow(/got an altered one, at .*dialogues\.train\.jsonl/);
    writeFileSync(join(dataset.folder, 'dataset.json'), '{"schemaVersion": 9}');
    expect(() => loadDialogueDataset('opendialkg', { home })).toThrow(/expected a data set manifest of this version/);
  });

  test('that was never imported is named with the nearest one', async () => {
    const home = folderWith({});
    expect(() => loadDialogueDataset('opendialkg', { home })).toThrow(
      /expected an imported data set, got "opendialkg"/,
    );
    await importFiles(releaseFiles, home);
    await expect(loadDialogueDataset('opendialkg', { home }).loadGraph('constructor')).rejects.toMatchObject({
      code: 'config',
    });
    expect(() => loadDialogueDataset('opendialk', { home })).toThrow(
      expect.objectContaining({ code: 'data', hint: 'Did you mean "opendialkg"?' }),
    );
  });
});

/** Enough different dialogues for all splits of a hash. */
function manyDialogues() {
  return Array.from({ length: 60 }, (_, i) => [say('user', `talk ${i}`), ...shortDialogue]);
}
