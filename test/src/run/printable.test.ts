import { expect, test } from '@jest/globals';
import { nearestName, printable } from '../../../src/run/printable.js';

test('escapes what could move a cursor or reorder a line, and nothing else', () => {
  expect(printable('\u001b[31mred\r\n')).toBe('\\u001b[31mred\\u000d\\u000a');
  expect(printable('a\u202eb\u2028c')).toBe('a\\u202eb\\u2028c');
  expect(printable('\ud83d')).toBe('\\ud83d');
  expect(printable('Größe – 映画 😀')).toBe('Größe – 映画 😀');
});

test('shortens to the limit', () => {
  expect(printable('abcdef', 4)).toBe('abc…');
  expect(printable('abcd', 4)).toBe('abcd');
});

test.each([
  ['direced_by', ['directed_by', '~directed_by', 'written_by', 'has_genre'], 'directed_by'],
  ['Has_Genre', ['directed_by', 'has_genre'], 'has_genre'],
  ['~writen_by', ['written_by'], 'written_by'],
  // Two letters that changed places are one slip.
  ['tgo', ['io', 'cot', 'tog'], 'tog'],
  ['clonign', ['cloning', 'closing'], 'cloning'],
  ['tail', ['directed_by', 'has_genre'], undefined],
  ['x', [], undefined],
  ['x', ['a', 'ab'], undefined],
  ['ab', ['cd', 'xy'], undefined],
])('for %s the nearest of %j is meant, if one is near', (name, names, meant) => {
  expect(nearestName(name, names)).toBe(meant);
});
