/** Completion of names, against a search through all of them. */
import { expect, test } from '@jest/globals';
import { nameSearch } from '../../../src/kg/name-search.js';
import { Rng } from '../../../src/run/seeds.js';

const found = (names: readonly string[], text: string, most = 10) =>
  nameSearch(names)(text, most).map((id) => names[id]);

const films = [
  'The Dark Knight',
  'dark city',
  'Dark',
  'Zero Dark Thirty',
  'Darkman',
  'Heat',
  'Amélie',
  'kill_bill',
  '$',
];

test.each<[string, string[]]>([
  ['dark', ['Dark', 'dark city', 'Darkman', 'The Dark Knight', 'Zero Dark Thirty']],
  ['DARK  k', ['The Dark Knight']],
  ['ark', []],
  ['amelie', ['Amélie']],
  ['AMÉ', ['Amélie']],
  ['bill', ['kill_bill']],
  ['$', ['$']],
  [' ', []],
  ['', []],
])('of %j', (text, expected) => {
  expect(found(films, text)).toEqual(expected);
});

test('at most so many, those that begin with the text first', () => {
  expect(found(films, 'dark', 4)).toEqual(['Dark', 'dark city', 'Darkman', 'The Dark Knight']);
  expect(found(films, 'dark', 2)).toEqual(['Dark', 'dark city']);
});

test('a name that has the word twice is found once, and homonyms each', () => {
  expect(found(['la la land', 'x la la', 'Paris', 'paris'], 'la')).toEqual(['la la land', 'x la la']);
  expect(nameSearch(['Paris', 'Rome', 'paris'])('par', 10)).toEqual([0, 2]);
});

test('a name of a million letters is found by its first ones', () => {
  expect(nameSearch(['b', `a${'b'.repeat(1e6)}`])('ab', 10)).toEqual([1]);
});

test('what is found is what a search through all names finds', () => {
  const rng = new Rng(1);
  const word = () => Array.from({ length: 1 + rng.integer(3) }, () => 'abcé'[rng.integer(4)]).join('');
  const names = Array.from({ length: 500 }, () => Array.from({ length: 1 + rng.integer(3) }, word).join(' '));
  const search = nameSearch(names);
  const plain = (text: string) => text.replaceAll('é', 'e');
  for (const text of ['a', 'ab', 'e', 'é', 'a b', 'bb c', 'eeee']) {
    const begins = names.flatMap((name, id) => (plain(name).startsWith(plain(text)) ? [id] : []));
    const holds = names.flatMap((name, id) => (plain(name).includes(` ${plain(text)}`) ? [id] : []));
    const all = search(text, 1000);
    expect(new Set(all.slice(0, begins.length))).toEqual(new Set(begins));
    expect([...all].sort((a, b) => a - b)).toEqual([...new Set([...begins, ...holds])].sort((a, b) => a - b));
  }
});
