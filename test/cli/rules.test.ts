/** `kgwalk rules show`: the most precise rules of links. */
import { expect, test } from '@jest/globals';
import { importLinks } from '../../datasets/links/import-links.js';
import { kgwalk, kgwalkJson, printed } from '../fixtures/command-line.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith } from '../fixtures/tiny-release.js';

useSharedHome(() => importLinks({ from: folderWith(tinyLinkFiles), name: 'tiny' }));

interface ShownRules {
  rules: { relation: string; kind: string; rule: string; right: number; of: number; precision: number }[];
}
const show = (...words: string[]) => kgwalkJson<ShownRules>('rules', 'show', 'tiny', ...words);

test('the most precise come first, chains and constants alike, with how often they are right', async () => {
  const { rules } = await show('--top', '1000');
  const precisions = rules.map(({ precision }) => precision);
  expect(precisions).toEqual([...precisions].sort((a, b) => b - a));
  for (const { right, of, precision } of rules) expect(precision).toBe(right / (of + 5));
  expect(new Set(rules.map(({ kind }) => kind))).toEqual(new Set(['chain', 'head']));
  expect((await show('--top', '3')).rules).toEqual(rules.slice(0, 3));
});

test('of one relation are those that answer it', async () => {
  const { rules } = await show('--relation', 'citizen_of');
  expect(new Set(rules.map(({ relation }) => relation))).toEqual(new Set(['citizen_of']));
  expect(rules[0]).toEqual({
    ...{ relation: 'citizen_of', kind: 'chain', rule: 'born_in → lies_in (6 of 6)' },
    ...{ right: 6, of: 6, precision: 6 / 11 },
  });
  // Two of train's citizens were born in Glass Harbor.
  expect(rules).toContainEqual({
    ...{ relation: 'citizen_of', kind: 'head', rule: 'of 2 heads with born_in → Glass Harbor, 2 have Northland' },
    ...{ right: 2, of: 2, precision: 2 / 7 },
  });
  const text = await printed('rules', 'show', 'tiny', '--relation', 'citizen_of', '--top', '1');
  expect(text).toMatch(
    /^precision +right +of +asked for +rule\n *0\.545 +6 +6 +citizen_of +born_in → lies_in \(6 of 6\)/,
  );
});

test.each([
  [['tiny', '--relation', 'citizen'], /expected a relation of tiny, got "citizen"/],
  [['tiny', '--top', '0'], /whole number from 1 to 100000, got "0", at --top/],
  [['nothing'], /nothing/],
])('%j is refused', async (words, message) => {
  const { exitCode, err } = await kgwalk('rules', 'show', ...words);
  expect(exitCode).not.toBe(0);
  expect(err).toMatch(message);
});
