import { existsSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { env } from 'node:process';
import { beforeEach, expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { readTable } from '../../trainers/transe/pretrain.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { printed } from '../fixtures/command-line.js';
import { useOwnHome } from '../fixtures/own-home.js';

useOwnHome();

const small = ['--dataset', 'toy', '--set', 'transe.dim=8', '--set', 'transe.epochs=3'];
const pretrain = (...words: string[]) => printed('pretrain', 'opendialkg', ...small, ...words);

beforeEach(async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles), name: 'toy' });
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

test('a graph of dialogues has no test facts', async () => {
  await expect(pretrain('--test')).rejects.toThrow('expected a data set of links with --test, got toy');
});
