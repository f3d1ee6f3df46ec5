import { existsSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { env } from 'node:process';
import { beforeEach, expect, test } from '@jest/globals';
import { importLinks } from '../../datasets/links/import-links.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { readTable } from '../../agents/embeddings/transe/pretrain.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { printed } from '../fixtures/command-line.js';
import { importFilms } from '../fixtures/toy-question-training.js';
import { useOwnHome } from '../fixtures/own-home.js';

useOwnHome();

const small = ['--set', 'transe.dim=8', '--set', 'transe.epochs=3'];
const pretrain = (...words: string[]) => printed('pretrain', 'opendialkg', '--dataset', 'toy', ...small, ...words);

beforeEach(async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles), name: 'toy' });
  await importLinks({ from: folderWith(tinyLinkFiles), name: 'tiny' });
});

test('pretrain keeps a table of the graph in the home folder, says where, and finds it again', async () => {
  const first = JSON.parse(await pretrain('--json')) as { file: string; reused: boolean; epochs: number };
  expect(first).toMatchObject({ reused: false, epochs: 3 });
  expect(first.file.startsWith(env.KGWALK_HOME!)).toBe(true);
  expect(existsSync(first.file)).toBe(true);
  const { table } = readTable(first.file, await loadDialogueDataset('toy').loadGraph());
  expect(table.dim).toBe(8);
  expect(await pretrain()).toBe(`kept from before: ${first.file}\n`);
});

test('what a process left that was killed after it had written the table goes with the next call', async () => {
  const { file } = JSON.parse(await pretrain('--json')) as { file: string };
  const left = ['.lock', '.unfinished.safetensors'].map((end) => file.replace('.safetensors', end));
  // No process has this number.
  for (const path of left) writeFileSync(path, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), born: '1' }));
  expect(await pretrain()).toBe(`kept from before: ${file}\n`);
  expect(left.filter((path) => existsSync(path))).toEqual([]);
});

test('another seed or graph trains another table', async () => {
  const file = async (...words: string[]) => (JSON.parse(await pretrain('--json', ...words)) as { file: string }).file;
  const files = [await file(), await file('--seed', '7'), await file('--graph', 'wide')];
  expect(new Set(files).size).toBe(3);
});

test.each(['0', '1.5', 'two', '257'])('%s threads are refused', async (threads) => {
  const refused = pretrain('--threads', threads);
  await expect(refused).rejects.toMatchObject({ code: 'usage' });
  await expect(refused).rejects.toThrow(`expected a whole number from 1 to 256, got "${threads}", at --threads`);
});

test('a wrong setting is one clear error before any work', async () => {
  await expect(pretrain('--set', 'transe.epoch=3')).rejects.toThrow(
    /unknown key transe\.epoch; did you mean transe\.epochs/,
  );
});

test('questions are refused, whose walkers read no vectors', async () => {
  await importFilms();
  const refused = printed('pretrain', 'opendialkg', '--dataset', 'films');
  await expect(refused).rejects.toMatchObject({ code: 'usage' });
  await expect(refused).rejects.toThrow('expected data of dialogues or links to pretrain vectors of, got questions');
});

test('a graph of dialogues has no test facts', async () => {
  await expect(pretrain('--test')).rejects.toThrow('expected a data set of links with --test, got toy');
});

const bilinear = ['--set', 'bilinear.dim=8', '--set', 'bilinear.epochs=3'];
const onLinks = (...words: string[]) =>
  printed('pretrain', 'umls-transe', ...small, ...bilinear, '--dataset', 'tiny', ...words);

interface Printed {
  name: string;
  file: string;
  reused: boolean;
  valid: Record<'tail' | 'head' | 'both', { mrr: number; n: number }>;
  test?: Printed['valid'];
}

test('on links trains each scorer once and prints both directions apart, those of test where asked', async () => {
  const first = JSON.parse(await onLinks('--json')) as Printed[];
  expect(first.map(({ name, reused }) => ({ name, reused }))).toEqual([
    { name: 'transe', reused: false },
    { name: 'complex', reused: false },
  ]);
  expect(first.every(({ test }) => test === undefined)).toBe(true);
  const again = JSON.parse(await onLinks('--json', '--test')) as Printed[];
  expect(again.map(({ valid, file, reused }) => ({ valid, file, reused }))).toEqual(
    first.map(({ valid, file }) => ({ valid, file, reused: true })),
  );
  for (const { valid, test } of again) {
    for (const split of [valid, test!]) {
      expect([split.tail.n, split.head.n, split.both.n]).toEqual([2, 2, 4]);
      expect(split.both.mrr).toBeCloseTo((split.tail.mrr + split.head.mrr) / 2, 12);
    }
  }
  const lines = (await onLinks('--test')).split('\n');
  expect(lines[0]).toBe(`transe kept from before: ${first[0]!.file}`);
  const asked = ['tail (h, r, ?)', 'head (?, r, t)', 'both'];
  const rows = ['transe', 'complex'].flatMap((name) =>
    ['valid', 'test'].flatMap((split) => asked.map((side) => new RegExp(`^${name} +${split} +${escaped(side)} +0\\.`))),
  );
  rows.forEach((row, i) => expect(lines[4 + i]).toMatch(row));
});

test('what does not fit links is one clear error', async () => {
  await expect(onLinks('--graph', 'wide')).rejects.toThrow('expected no --graph with a data set of links, got wide');
  const none = onLinks('--set', 'transe.enabled=false', '--set', 'bilinear.enabled=false');
  await expect(none).rejects.toThrow('expected something to pretrain');
});

test('of links, a scorer that is not enabled is left out', async () => {
  const scorers = JSON.parse(await onLinks('--json', '--set', 'transe.enabled=false')) as Printed[];
  expect(scorers.map(({ name }) => name)).toEqual(['complex']);
});

const escaped = (text: string) => text.replace(/[()?]/g, '\\$&');
