import { expect, test } from '@jest/globals';
import { printable } from '../../../src/run/printable.js';

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
