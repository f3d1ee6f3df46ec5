import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { loadPreset } from '../../presets/index.js';
import { runSettings } from '../../presets/schema.js';
import { explainConfig } from '../../src/run/config-keys.js';
import { loadConfig } from '../../src/run/config.js';
import { packageRoot, presetNames } from '../../src/run/locations.js';

const presetFile = (name: string) => join(packageRoot(), 'presets', `${name}.yaml`);

describe.each(presetNames())('the preset %s', (name) => {
  test('is valid and is called what its file is called', () => {
    expect(loadConfig(runSettings, { file: presetFile(name) }).name).toBe(name);
  });

  test('is loaded by its name, with changes', () => {
    expect(loadPreset(name).name).toBe(name);
    expect(loadPreset(name, ['ppo.clipRange=0.1', 'ppo.clipRange=0.3']).ppo.clipRange).toBe(0.3);
  });

  test('resolves to settings that resolve to themselves, also through YAML', () => {
    const config = loadConfig(runSettings, { file: presetFile(name) });
    expect(loadConfig(runSettings, { text: stringify(config) })).toEqual(config);
    expect(parse(stringify(config))).toEqual(config);
  });
});

test('every key has a description and, but for plugins, options and the model, a default', () => {
  const keys = explainConfig(runSettings);
  expect(keys.filter(({ description }) => description === '').map(({ key }) => key)).toEqual([]);
  expect(keys.filter((key) => key.default === undefined).map(({ key }) => key)).toEqual([
    'plugins',
    'env.options',
    'encoder.model',
  ]);
});

test('a misspelt key of a part is an error with the nearest name', () => {
  expect(() => loadConfig(runSettings, { overrides: ['ppo.clipRnage=0.1'] })).toThrow('did you mean ppo.clipRange?');
});

test('a value out of range tells the range', () => {
  expect(() => loadConfig(runSettings, { overrides: ['ppo.gamma=2'] })).toThrow('expected a number in [0, 1], got 2');
});
