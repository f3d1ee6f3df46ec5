import { describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { loadPreset, runSettings } from '../../presets/index.js';
import { explainConfig } from '../../src/run/config-keys.js';
import { loadConfig } from '../../src/run/config.js';
import { presetNames } from '../../src/run/locations.js';

describe.each(presetNames())('the preset %s', (name) => {
  test('is called what its file is called, and resolves to settings that resolve to themselves through YAML', () => {
    const config = loadPreset(name);
    expect(config.name).toBe(name);
    const text = stringify(config);
    expect(loadConfig(runSettings, { text })).toEqual(config);
    expect(parse(text)).toEqual(config);
  });
});

test('a preset is loaded with changes, of which the last holds', () => {
  expect(loadPreset('demo', ['ppo.clipRange=0.1', 'ppo.clipRange=0.3']).ppo.clipRange).toBe(0.3);
});

test('every key has a description and, but for plugins, options, the model, queries, what others trained and generated graphs, a default', () => {
  const keys = explainConfig(runSettings);
  expect(keys.filter(({ description }) => description === '').map(({ key }) => key)).toEqual([]);
  expect(keys.filter((key) => key.default === undefined).map(({ key }) => key)).toEqual([
    'plugins',
    'env.options',
    'linkWalk.queries',
    'encoder.model',
    'transe.imported',
    'bilinear.imported',
    'teacher.evaluation',
    'exactWalker.messages.generated',
    'exactWalker.messages.from',
  ]);
});

test.each([
  ['ppo.clip', 'ppo.clipRange'],
  ['ppo.lr', 'ppo.learningRate'],
  ['lr', 'ppo.learningRate'],
  ['learning_rate', 'ppo.learningRate'],
  ['n_steps', 'policy.numSteps or ppo.samplesPerUpdate'],
  ['ppo.n_steps', 'ppo.samplesPerUpdate'],
  ['policy.n_steps', 'policy.numSteps'],
  ['clip_coef', 'ppo.clipRange'],
  ['ent_coef', 'ppo.entropyCoef'],
  ['vf_coef', 'ppo.valueCoef'],
  ['total_timesteps', 'policy.totalSteps or ppo.updates'],
  ['clone.batch_size', 'clone.batchSize'],
  ['gae_lambda', 'ppo.gaeLambda'],
  ['transe.ep', 'transe.epochs'],
  ['clone.batch', 'clone.batchSize'],
])('%s, short or as other libraries call it, is known to mean %s', (asked, meant) => {
  expect(() => loadConfig(runSettings, { overrides: [`${asked}=1`] })).toThrow(
    `unknown key ${asked}; did you mean ${meant}?`,
  );
});

test('a value that breaks two rules of one key is reported once', () => {
  expect(() => loadConfig(runSettings, { overrides: ['ppo.updates=1e99'] })).toThrow(
    /^ppo\.updates: expected an integer in \[1, 1000000\], got 1e\+99, at --set ppo\.updates$/,
  );
});

test('a preset that is nearly one of ours is guessed', () => {
  const hintOf = (name: string) => {
    try {
      loadPreset(name);
    } catch (error) {
      return (error as { hint?: string }).hint;
    }
    return undefined;
  };
  expect(hintOf('metaq')).toContain('Did you mean "metaqa"?');
  expect(hintOf('opendialkg-tin')).toContain('Did you mean "opendialkg-tiny"?');
});
