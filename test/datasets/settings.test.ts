import { expect, test } from '@jest/globals';
import { dataSettings } from '../../datasets/settings.js';

test('every key of the data settings has a default and a description', () => {
  expect(dataSettings.parse({})).toEqual({
    dataset: 'opendialkg',
    graph: 'dialogue',
    turns: 'all',
    maxDialogues: null,
    oracle: null,
    fold: null,
    trainSamples: null,
    validSamples: null,
    subsets: 'all',
    holdOut: 'question',
  });
  for (const key of Object.values(dataSettings.shape)) expect(key.description).toBeTruthy();
  expect(() => dataSettings.parse({ turn: 'all' })).toThrow();
});
