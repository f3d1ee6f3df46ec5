import { expect, test } from '@jest/globals';
import { nearestName } from '../../../src/run/nearest-name.js';

test('the nearest name is found through a typo or another case', () => {
  expect(nearestName('clipRnage', ['gamma', 'clipRange', 'clipRangeValue'])).toBe('clipRange');
  expect(nearestName('DIALOGUE', ['wide', 'dialogue'])).toBe('dialogue');
});

test('a name that shares nothing with any other gets no suggestion, however short it is', () => {
  expect(nearestName('frobnicate', ['gamma', 'clipRange'])).toBeUndefined();
  expect(nearestName('a', ['ks', 'x'])).toBeUndefined();
  expect(nearestName('', ['x'])).toBeUndefined();
});
