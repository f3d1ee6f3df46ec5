import { beforeEach, expect, test } from '@jest/globals';
import { importLinks } from '../../../datasets/links/import-links.js';
import { printed } from '../../fixtures/command-line.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { tinyLinkFiles } from '../../fixtures/tiny-links.js';
import { folderWith } from '../../fixtures/tiny-release.js';

useOwnHome();

const small = ['transe.dim=8', 'transe.epochs=3', 'bilinear.dim=8', 'bilinear.epochs=3'];
const sets = small.flatMap((one) => ['--set', one]);
const pretrain = (...words: string[]) => printed('pretrain', 'umls-transe', '--dataset', 'tiny', ...sets, ...words);

interface Printed {
  name: string;
  file: string;
  reused: boolean;
  valid: Record<'tail' | 'head' | 'both', { mrr: number; n: number }>;
  test?: Printed['valid'];
}

beforeEach(async () => {
  await importLinks({ from: folderWith(tinyLinkFiles), name: 'tiny' });
});

test('trains each scorer once and prints both directions apart, those of test where asked', async () => {
  const first = JSON.parse(await pretrain('--json')) as Printed[];
  expect(first.map(({ name, reused }) => ({ name, reused }))).toEqual([
    { name: 'transe', reused: false },
    { name: 'complex', reused: false },
  ]);
  expect(first.every(({ test }) => test === undefined)).toBe(true);
  const again = JSON.parse(await pretrain('--json', '--test')) as Printed[];
  expect(again.map(({ valid, file, reused }) => ({ valid, file, reused }))).toEqual(
    first.map(({ valid, file }) => ({ valid, file, reused: true })),
  );
  for (const { valid, test } of again) {
    for (const split of [valid, test!]) {
      expect([split.tail.n, split.head.n, split.both.n]).toEqual([2, 2, 4]);
      expect(split.both.mrr).toBeCloseTo((split.tail.mrr + split.head.mrr) / 2, 12);
    }
  }
  const lines = (await pretrain('--test')).split('\n');
  expect(lines[0]).toBe(`transe kept from before: ${first[0]!.file}`);
  const asked = ['tail (h, r, ?)', 'head (?, r, t)', 'both'];
  const rows = ['transe', 'complex'].flatMap((name) =>
    ['valid', 'test'].flatMap((split) => asked.map((side) => new RegExp(`^${name} +${split} +${escaped(side)} +0\\.`))),
  );
  rows.forEach((row, i) => expect(lines[4 + i]).toMatch(row));
});

test('what does not fit links is one clear error', async () => {
  await expect(pretrain('--graph', 'wide')).rejects.toThrow('expected no --graph with a data set of links, got wide');
  const none = pretrain('--set', 'transe.enabled=false', '--set', 'bilinear.enabled=false');
  await expect(none).rejects.toThrow('expected something to pretrain');
});

test('a scorer that is not enabled is left out', async () => {
  const scorers = JSON.parse(await pretrain('--json', '--set', 'transe.enabled=false')) as Printed[];
  expect(scorers.map(({ name }) => name)).toEqual(['complex']);
});

const escaped = (text: string) => text.replace(/[()?]/g, '\\$&');
