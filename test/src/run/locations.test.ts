import { afterEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { chdir, cwd, env } from 'node:process';
import {
  cacheFolder,
  confined,
  kgwalkHome,
  packageRoot,
  presetNames,
  resolvePreset,
  runsFolder,
} from '../../../src/run/locations.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const start = cwd();
const home = env.KGWALK_HOME;
afterEach(() => {
  chdir(start);
  if (home === undefined) delete env.KGWALK_HOME;
  else env.KGWALK_HOME = home;
});

test('the home is KGWALK_HOME, else a folder in the home of the user', () => {
  env.KGWALK_HOME = '/data/kgwalk';
  expect(cacheFolder()).toBe('/data/kgwalk/cache');
  delete env.KGWALK_HOME;
  expect(kgwalkHome()).toBe(join(homedir(), '.kgwalk'));
});

test('runs are in KGWALK_RUNS, else in a folder of the working folder', () => {
  env.KGWALK_RUNS = '/data/runs';
  expect(runsFolder()).toBe('/data/runs');
  env.KGWALK_RUNS = 'elsewhere';
  expect(runsFolder()).toBe(resolve('elsewhere'));
  for (const none of ['', undefined]) {
    if (none === undefined) delete env.KGWALK_RUNS;
    else env.KGWALK_RUNS = none;
    expect(runsFolder()).toBe(resolve('runs'));
  }
});

describe('a preset', () => {
  const elsewhere = () => {
    const folder = realpathSync(folderWith({}));
    chdir(folder);
    return folder;
  };

  test('of the package is found by name and by path from any folder', () => {
    elsewhere();
    const expected = join(packageRoot(), 'presets/opendialkg.yaml');
    for (const name of ['opendialkg', 'opendialkg.yaml', 'presets/opendialkg.yaml'])
      expect(resolvePreset(name)).toBe(expected);
  });

  test('in the working folder goes before the one of the package', () => {
    const folder = elsewhere();
    mkdirSync(join(folder, 'presets'));
    writeFileSync(join(folder, 'presets/opendialkg.yaml'), '');
    expect(resolvePreset('opendialkg')).toBe(join(folder, 'presets/opendialkg.yaml'));
    writeFileSync(join(folder, 'opendialkg.yaml'), '');
    expect(resolvePreset('opendialkg')).toBe(join(folder, 'opendialkg.yaml'));
  });

  test('that does not exist is an error that lists those that do', () => {
    elsewhere();
    expect(() => resolvePreset('opendailkg')).toThrow('expected a preset or a YAML file, got "opendailkg"');
    expect(presetNames()).toContain('opendialkg-tiny');
  });

  test('is never looked up outside the presets of the package', () => {
    elsewhere();
    expect(() => resolvePreset('presets/../package')).toThrow('expected a preset');
  });
});

describe('a confined name', () => {
  test('is a path inside the folder', () => {
    expect(confined('/runs', 'a')).toBe(resolve('/runs/a'));
    expect(confined('/runs', 'a/../b')).toBe(resolve('/runs/b'));
    expect(confined('/runs', '..a')).toBe(resolve('/runs/..a'));
  });

  test.each(['..', '../x', 'a/../../x', '/etc/passwd', '', '.', 'a\0b', '/runs/x'])('refuses %j', (name) => {
    expect(() => confined('/runs', name)).toThrow('expected a name inside /runs');
  });
});
