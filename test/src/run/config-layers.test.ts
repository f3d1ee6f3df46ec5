import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { loadConfig } from '../../../src/run/config.js';
import { thrownBy } from '../../fixtures/thrown.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const schema = z.strictObject({
  name: z.string().default('run'),
  seed: z.int().min(0).default(1),
  ppo: z
    .strictObject({
      clipRange: z.number().gt(0).max(1).default(0.2),
      updates: z.int().positive().default(100),
      nested: z.strictObject({ a: z.int().default(0), b: z.int().default(0) }).prefault({}),
    })
    .prefault({}),
  walker: z.strictObject({ sizes: z.array(z.int()).default([256, 256]) }).prefault({}),
});

let folder: string;
beforeEach(() => void (folder = folderWith({})));

function written(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const load = (file: string, overrides: string[] = []) => loadConfig(schema, { file, overrides });

const refusal = (file: string, overrides?: string[]) => thrownBy(() => load(file, overrides)).message;

describe('a config that extends another', () => {
  test('has its own keys, then those of the file below, then the defaults; overrides come last', () => {
    written('base.yaml', 'name: base\nseed: 3\nppo: {clipRange: 0.1, nested: {a: 1}}\nwalker: {sizes: [1, 2, 3]}');
    const file = written(
      'own.yaml',
      'extends: base\nname: own\nppo: {updates: 5, nested: {b: 2}}\nwalker: {sizes: [9]}',
    );
    const expected = {
      name: 'own',
      seed: 3,
      ppo: { clipRange: 0.1, updates: 5, nested: { a: 1, b: 2 } },
      walker: { sizes: [9] },
    };
    expect(load(file)).toEqual(expected);
    expect(load(file, ['ppo.nested.a=7', 'seed=4'])).toMatchObject({ seed: 4, ppo: { nested: { a: 7, b: 2 } } });
    expect(load(written('third.yaml', 'extends: own.yaml\nseed: 8'))).toEqual({ ...expected, seed: 8 });
  });

  test('may name a preset of the package; a file of that name next to it takes precedence', () => {
    expect(refusal(written('own.yaml', 'extends: opendialkg'))).toContain('unknown key');
    written('opendialkg.yaml', 'seed: 5');
    expect(load(join(folder, 'own.yaml')).seed).toBe(5);
  });

  test('keeps a section below whose keys above are all commented out', () => {
    written('base.yaml', 'ppo: {updates: 7}');
    expect(load(written('own.yaml', 'extends: base\nppo:\n  # updates: 3')).ppo.updates).toBe(7);
    written('base.yaml', 'ppo:\n  # updates: 7');
    expect(load(written('own.yaml', 'extends: base\nppo: {updates: 3}')).ppo.updates).toBe(3);
  });

  test('reports a problem with its place in the file', () => {
    const base = written('base.yaml', 'seed: 1\nppo:\n  updates: none\n  nested: {a: 1}');
    const file = written('own.yaml', 'extends: base\nppo:\n  clipRange: 7\n  nested:\n    c: 1');
    const message = refusal(file);
    expect(message).toMatch(new RegExp(`ppo.updates: .*at ${base}:3`));
    expect(message).toMatch(new RegExp(`ppo.clipRange: .*at ${file}:3`));
    expect(message).toMatch(new RegExp(`unknown key ppo.nested.c.*at ${file}:5`));
    expect(refusal(file, ['ppo.updates=0'])).toContain('at --set ppo.updates');
  });

  test('is refused where the other is missing, broken, itself, or not named', () => {
    expect(refusal(written('own.yaml', 'seed: 1\nextends: nowhere'))).toBe(
      `extends: expected a preset or a YAML file, got nowhere, at ${folder}/own.yaml:2`,
    );
    expect(refusal(written('own.yaml', 'extends: [a, b]'))).toContain('expected the name of a preset');
    expect(refusal(written('own.yaml', 'extends: own'))).toContain('that does not extend this one');
    written('a.yaml', 'extends: b');
    expect(refusal(written('b.yaml', 'extends: a'))).toContain(`got ${folder}/b.yaml, at ${folder}/a.yaml:1`);
    written('base.yaml', 'ppo: {');
    expect(refusal(written('own.yaml', 'extends: base'))).toContain(`${folder}/base.yaml:1`);
    written('base.yaml', '- 1');
    expect(refusal(written('own.yaml', 'extends: base'))).toMatch(/expected keys and values, got .*base\.yaml/);
    written('base.yaml', '');
    expect(load(written('own.yaml', 'extends: base')).seed).toBe(1);
  });

  test('is a file: nothing else extends', () => {
    expect(() => loadConfig(schema, { text: 'extends: opendialkg' })).toThrow('unknown key extends');
    expect(() => loadConfig(schema, { overrides: ['extends=opendialkg'] })).toThrow('unknown key extends');
  });
});
