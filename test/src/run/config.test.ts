import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileSync } from 'node:fs';
import { explainConfig } from '../../../src/run/config-keys.js';
import {
  canonicalJson,
  configDifferences,
  configHash,
  diffConfig,
  settingDifferences,
  refuseDifferences,
} from '../../../src/run/config-values.js';
import { loadConfig } from '../../../src/run/config.js';
import { checkProperty } from '../../fixtures/property.js';
import { thrownBy } from '../../fixtures/thrown.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const schema = z.strictObject({
  name: z.string().default('run'),
  seed: z.int().min(0).default(1),
  ppo: z
    .strictObject({
      clipRange: z.number().gt(0).max(1).default(0.2).describe('How far a ratio may move.'),
      updates: z.int().positive().default(100),
      targetKl: z.number().min(0).nullable().default(null),
      reward: z.enum(['path', 'target']).default('path'),
      threads: z.union([z.literal('auto'), z.int().min(1)]).default('auto'),
      nested: z.strictObject({ a: z.int().default(0), b: z.int().default(0) }).prefault({}),
    })
    .refine((ppo) => ppo.targetKl === null || ppo.targetKl < ppo.clipRange, {
      path: ['targetKl'],
      message: 'must be below clipRange',
    })
    .prefault({}),
  walker: z.strictObject({ sizes: z.array(z.int().min(1)).min(1).default([256, 256]) }).prefault({}),
});

const load = (text: string, overrides: string[] = []) => loadConfig(schema, { text, overrides, source: 'x.yaml' });

function problem(text: string, overrides: string[] = []): string {
  const { code, message } = thrownBy(() => load(text, overrides));
  expect(code).toBe('config');
  return message;
}

describe('a config that is accepted', () => {
  test('has the value of every key', () => {
    expect(load('ppo:\n  clipRange: 0.1')).toEqual({
      name: 'run',
      seed: 1,
      ppo: { clipRange: 0.1, updates: 100, targetKl: null, reward: 'path', threads: 'auto', nested: { a: 0, b: 0 } },
      walker: { sizes: [256, 256] },
    });
  });

  test('may be empty, hold comments only, or have sections with every key commented out', () => {
    expect(load('')).toEqual(load('# nothing\n'));
    expect(load('ppo:\n  # clipRange: 0.1\nseed: 2').ppo.clipRange).toBe(0.2);
  });

  test('is overridden by YAML values, the last one wins', () => {
    const overrides = ['seed=4', 'walker.sizes=[8, 4]', 'ppo.targetKl=0.01', 'seed=5', 'ppo.threads=2', 'name="7"'];
    const expected = { name: '7', seed: 5, walker: { sizes: [8, 4] }, ppo: { targetKl: 0.01, threads: 2 } };
    expect(load('seed: 3', overrides)).toMatchObject(expected);
  });

  test('may be null where the schema says so, also from the command line', () => {
    expect(load('ppo: {targetKl: 0.1}', ['ppo.targetKl=null']).ppo.targetKl).toBeNull();
    expect(load('ppo: {targetKl: 0.1}', ['ppo.targetKl=']).ppo.targetKl).toBeNull();
  });
});

describe('a config that is refused', () => {
  test('names file, line and the nearest key for one that does not exist', () => {
    expect(problem('seed: 1\nppo:\n  clipRnage: 0.1')).toBe(
      'unknown key ppo.clipRnage; did you mean ppo.clipRange?, at x.yaml:3',
    );
    expect(problem('ppo: {clip_range: 0.1}')).toContain('did you mean ppo.clipRange?');
  });

  test.each([
    ['clipRange: 0.1', 'unknown key clipRange; did you mean ppo.clipRange?, at x.yaml:1'],
    ['frobnicate: 1', 'unknown key frobnicate, at x.yaml:1'],
    ['ppo:\n  clipRange: 3', 'ppo.clipRange: expected a number in (0, 1], got 3, at x.yaml:2'],
    ['ppo: {reward: paths}', 'ppo.reward: expected one of path, target, got paths, at x.yaml:1'],
    ['ppo: {threads: many}', 'ppo.threads: expected auto or an integer in [1, ∞), got many, at x.yaml:1'],
    ['walker: {sizes: [4, 0]}', 'walker.sizes.1: expected an integer in [1, ∞), got 0, at x.yaml:1'],
    ['ppo: {clipRange: .nan}', 'ppo.clipRange: expected a number in (0, 1], got NaN, at x.yaml:1'],
    ['ppo: 3', 'ppo: expected a section, got 3, at x.yaml:1'],
    ['ppo:\n  targetKl: 0.5', 'ppo.targetKl: must be below clipRange, at x.yaml:2'],
    ['seed: 1\nppo: [1', 'x.yaml:2'],
    ['seed: 1\nseed: 2', 'x.yaml:2'],
    ['seed: !!js/function "x"', 'x.yaml:1'],
    ['- 1', 'expected keys and values'],
    ['seed: *gone', 'gone'],
    ['__proto__: {polluted: 1}', 'refused key __proto__'],
    ['ppo: {__proto__: {polluted: 1}}', 'refused key __proto__'],
    ['{"__proto__": {"polluted": 1}}', 'refused key __proto__'],
    ['constructor: {prototype: {polluted: 1}}', 'unknown key constructor'],
  ])('%j says what is wrong with which value, and where', (text, message) => {
    expect(problem(text)).toContain(message);
    for (const object of [{}, Object]) expect(object).not.toHaveProperty('polluted');
  });

  test.each([
    ['ppo.updates=0.5', 'ppo.updates: expected an integer in (0, ∞), got 0.5, at --set ppo.updates'],
    ['seed', 'expected KEY=VALUE, got seed, at --set'],
    ['=1', 'expected KEY=VALUE'],
    ['ppo..clipRange=1', 'expected KEY=VALUE'],
    ['seed=[1', '--set seed=[1'],
    ['seed.deeper=1', 'expected an integer'],
    ['__proto__.polluted=1', 'refused key __proto__'],
    ['ppo={__proto__: {polluted: 1}}', 'refused key __proto__'],
    ['constructor.prototype.polluted=1', 'unknown key constructor'],
    ['toString.polluted=1', 'unknown key toString'],
  ])('--set %s too', (override, message) => {
    expect(problem('', [override])).toContain(message);
    for (const object of [{}, Object]) expect(object).not.toHaveProperty('polluted');
  });

  test('lists all problems at once', () => {
    const message = problem('seed: -1\nppo:\n  clipRange: 3\n  updates: x\nfrobnicate: 1', ['walker.sizes=[]']);
    const places = ['^5 problems:', 'seed: expected an integer in .0, ∞.', 'x.yaml:3', 'x.yaml:4', 'x.yaml:5'];
    for (const part of [...places, 'frobnicate', '--set walker.sizes']) expect(message).toMatch(new RegExp(part));
  });

  test('does not expand aliases without bound', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [name, of] of ['ba', 'cb', 'dc', 'ed'])
      lines.push(`${name}: &${name} [${Array(10).fill(`*${of}`).join(', ')}]`);
    expect(problem(lines.join('\n'))).toContain('x.yaml');
  });

  test('names the file when it is missing', () => {
    expect(() => loadConfig(schema, { file: '/no/such.yaml' })).toThrow(
      'expected a config file, got nothing, at /no/such.yaml',
    );
    const file = join(folderWith({ 'p.yaml': 'seed: x' }), 'p.yaml');
    expect(() => loadConfig(schema, { file })).toThrow(`${file}:1`);
  });
});

describe('comparing settings', () => {
  test('canonical JSON has sorted keys at every level', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
  });

  test('equal settings have one hash in any order of keys', () => {
    checkProperty(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(configHash(reversed)).toBe(configHash(value));
        expect(diffConfig(value, reversed)).toEqual([]);
      }),
    );
    expect(configHash({ a: 1 })).not.toBe(configHash({ a: 2 }));
  });

  test('the differing keys are named', () => {
    const a = { seed: 1, ppo: { clipRange: 0.2, sizes: [1, 2] }, gone: 1 };
    const b = { seed: 1, ppo: { clipRange: 0.1, sizes: [2, 1] }, more: { deep: 1 } };
    expect(diffConfig(a, b)).toEqual(['gone', 'more', 'ppo.clipRange', 'ppo.sizes']);
  });

  test('values that differ are listed by leaf, without those of phases that do not run', () => {
    const off = { ppo: { enabled: false, clipRange: 0.5, epochs: 9 } };
    const [small, large] = [0.1, 0.2].map((clipRange) => ({
      ppo: { enabled: true, clipRange, epochs: 3 },
      by: { a: [1] },
    }));
    expect(settingDifferences([small!, off, large!])).toEqual([
      { key: 'by.a', values: ['[1]', null, '[1]'] },
      { key: 'ppo.clipRange', values: ['0.1', null, '0.2'] },
      { key: 'ppo.enabled', values: ['true', 'false', 'true'] },
    ]);
  });
});

describe('an explanation', () => {
  test('says what a key takes, its default and its description; of a section for all its keys', () => {
    const description = 'How far a ratio may move.';
    const clipRange = { key: 'ppo.clipRange', takes: 'a number in (0, 1]', default: 0.2, description };
    expect(explainConfig(schema, 'ppo.clipRange')).toEqual([clipRange]);
    expect(explainConfig(schema, 'seed')[0]!.takes).toBe('an integer in [0, ∞)');
    expect(explainConfig(schema, 'walker')).toMatchObject([
      { key: 'walker.sizes', takes: 'a list of at least 1, each an integer in [1, ∞)' },
    ]);
    const keys = ['clipRange', 'updates', 'targetKl', 'reward', 'threads', 'nested.a', 'nested.b'].map(
      (key) => `ppo.${key}`,
    );
    expect(explainConfig(schema).map(({ key }) => key)).toEqual(['name', 'seed', ...keys, 'walker.sizes']);
  });

  test.each([
    ['ppo.cliprange2', 'unknown key ppo.cliprange2; did you mean ppo.clipRange?'],
    ['constructor', 'unknown key constructor'],
  ])('of %s, which is no key, is an error', (key, message) => {
    expect(() => explainConfig(schema, key)).toThrow(message);
  });
});

describe('in files', () => {
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
        ppo: { clipRange: 0.1, updates: 5, targetKl: null, reward: 'path', threads: 'auto', nested: { a: 1, b: 2 } },
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
});

describe('a run and what was asked for', () => {
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
});
