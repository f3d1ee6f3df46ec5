import { expect, test } from '@jest/globals';
import { nearestName } from '../../../src/run/printable.js';

test('finds the name that was meant', () => {
  const names = ['directed_by', '~directed_by', 'written_by', 'has_genre'];
  expect(nearestName('direced_by', names)).toBe('directed_by');
  expect(nearestName('Has_Genre', names)).toBe('has_genre');
  expect(nearestName('~writen_by', ['written_by'])).toBe('written_by');
});

test('offers nothing where nothing is near', () => {
  expect(nearestName('tail', ['directed_by', 'has_genre'])).toBeUndefined();
  expect(nearestName('x', [])).toBeUndefined();
});

test('does not offer a name that shares no letter', () => {
  expect(nearestName('x', ['a', 'ab'])).toBeUndefined();
  expect(nearestName('ab', ['cd', 'xy'])).toBeUndefined();
});

test('two letters that changed places are one slip', () => {
  expect(nearestName('tgo', ['io', 'cot', 'tog'])).toBe('tog');
  expect(nearestName('clonign', ['cloning', 'closing'])).toBe('cloning');
});
