import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { explainConfig } from '../../../src/run/config-keys.js';

const schema = z.strictObject({
  seed: z.int().default(1).describe('Of everything random.'),
  ppo: z
    .strictObject({
      clipRange: z.number().gt(0).lt(1).default(0.2).describe('How far a ratio may move.'),
      reward: z.enum(['path', 'target']).default('path').describe('What is rewarded.'),
      deep: z.strictObject({ on: z.boolean().default(false).describe('Whether.') }).prefault({}),
    })
    .prefault({}),
});

test('a key is explained by what it takes, its default and its description', () => {
  expect(explainConfig(schema, 'ppo.clipRange')).toEqual([
    { key: 'ppo.clipRange', takes: 'a number in (0, 1)', default: 0.2, description: 'How far a ratio may move.' },
  ]);
  expect(explainConfig(schema, 'ppo.reward')[0]!.takes).toBe('one of path, target');
  expect(explainConfig(schema, 'seed')[0]!.takes).toBe('an integer');
});

test('a section is explained by all its keys, also those of its sections', () => {
  expect(explainConfig(schema, 'ppo').map(({ key }) => key)).toEqual(['ppo.clipRange', 'ppo.reward', 'ppo.deep.on']);
  expect(explainConfig(schema).map(({ key }) => key)).toEqual(['seed', 'ppo.clipRange', 'ppo.reward', 'ppo.deep.on']);
});

test('an unknown key gets the nearest name', () => {
  expect(() => explainConfig(schema, 'ppo.cliprange2')).toThrow(
    'unknown key ppo.cliprange2; did you mean ppo.clipRange?',
  );
  expect(() => explainConfig(schema, 'constructor')).toThrow('unknown key constructor');
});
