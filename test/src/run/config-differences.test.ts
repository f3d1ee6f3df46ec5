import { expect, test } from '@jest/globals';
import { configDifferences, refuseDifferences } from '../../../src/run/config-values.js';

const run = { seed: 1, ppo: { clipRange: 0.2, targetKl: null }, data: { subsets: 'all' }, gone: true };
const asked = { data: { subsets: ['2-hop'] }, ppo: { clipRange: 0.1, targetKl: null }, seed: 1 };

test('differences are listed with both values', () => {
  expect(configDifferences(run, asked)).toEqual([
    'data.subsets: all in the run, ["2-hop"] asked for',
    'gone: true in the run, nothing asked for',
    'ppo.clipRange: 0.2 in the run, 0.1 asked for',
  ]);
  expect(configDifferences(run, structuredClone(run))).toEqual([]);
});

test('they are refused all at once, none is not', () => {
  refuseDifferences([], 'the settings of the run', 'runs/a', 'Try.');
  const refused = () => refuseDifferences(['a: 1 …', 'b: 2 …'], 'the settings of the run', 'runs/a', 'Try.');
  expect(refused).toThrow('expected the settings of the run, got others, at runs/a:\n  a: 1 …\n  b: 2 …');
});
