import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { canonicalJson, configHash, diffConfig, loadConfig } from '../../../src/run/config.js';
import type { WorkbenchError } from '../../../src/run/errors.js';

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
  try {
    load(text, overrides);
  } catch (error) {
    expect((error as WorkbenchError).code).toBe('config');
    return (error as Error).message;
  }
  throw new Error('expected a refusal');
}

describe('a config that is accepted', () => {
  test('has the value of every key', () => {
    expect(load('ppo:\n  clipRange: 0.1')).toEqual({
      name: 'run',
      seed: 1,
      ppo: { clipRange: 0.1, updates: 100, targetKl: null, reward: 'path', threads: 'auto' },
      walker: { sizes: [256, 256] },
    });
  });

  test('may be empty, hold comments only, or have sections with every key commented out', () => {
    expect(load('')).toEqual(load('# nothing\n'));
    expect(load('ppo:\n  # clipRange: 0.1\nseed: 2').ppo.clipRange).toBe(0.2);
  });

  test('is overridden by YAML values, the last one wins', () => {
    const value = load('seed: 3', [
      'seed=4',
      'walker.sizes=[8, 4]',
      'ppo.targetKl=0.01',
      'seed=5',
      'ppo.threads=2',
      'name="7"',
    ]);
    expect(value.seed).toBe(5);
    expect(value.walker.sizes).toEqual([8, 4]);
    expect(value.ppo).toMatchObject({ targetKl: 0.01, threads: 2 });
    expect(value.name).toBe('7');
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

  test('finds the section of a key that stands at the top', () => {
    expect(problem('clipRange: 0.1')).toContain('unknown key clipRange; did you mean ppo.clipRange?');
  });

  test('offers no name where none is near', () => {
    expect(problem('frobnicate: 1')).toBe('unknown key frobnicate, at x.yaml:1');
  });

  test('says the range, the value and the place', () => {
    expect(problem('ppo:\n  clipRange: 3')).toBe('ppo.clipRange: expected a number in (0, 1], got 3, at x.yaml:2');
    expect(problem('', ['ppo.updates=0.5'])).toBe(
      'ppo.updates: expected an integer in (0, ∞), got 0.5, at --set ppo.updates',
    );
    expect(problem('ppo: {reward: paths}')).toContain('ppo.reward: expected one of path, target, got paths');
    expect(problem('ppo: {threads: many}')).toContain('expected auto or an integer in [1, ∞), got many');
    expect(problem('walker: {sizes: [4, 0]}')).toBe(
      'walker.sizes.1: expected an integer in [1, ∞), got 0, at x.yaml:1',
    );
    expect(problem('ppo: {clipRange: .nan}')).toContain('got NaN');
    expect(problem('ppo: 3')).toBe('ppo: expected a section, got 3, at x.yaml:1');
  });

  test('reports a rule between keys in its own words', () => {
    expect(problem('ppo:\n  targetKl: 0.5')).toBe('ppo.targetKl: must be below clipRange, at x.yaml:2');
  });

  test('lists all problems at once', () => {
    const message = problem('seed: -1\nppo:\n  clipRange: 3\n  updates: x\nfrobnicate: 1', ['walker.sizes=[]']);
    expect(message).toMatch(/^5 problems:\n/);
    for (const part of [
      'seed: expected an integer in [0, ∞)',
      'x.yaml:3',
      'x.yaml:4',
      'frobnicate',
      '--set walker.sizes',
    ]) {
      expect(message).toContain(part);
    }
  });

  test('has a place for broken YAML, repeated keys and custom tags', () => {
    expect(problem('seed: 1\nppo: [1')).toContain('x.yaml:2');
    expect(problem('seed: 1\nseed: 2')).toContain('x.yaml:2');
    expect(problem('seed: !!js/function "x"')).toContain('x.yaml:1');
    expect(problem('- 1')).toContain('expected keys and values');
    expect(problem('seed: *gone')).toContain('gone');
  });

  test('has a place for an override that is no assignment', () => {
    expect(problem('', ['seed'])).toBe('expected KEY=VALUE, got seed, at --set');
    expect(problem('', ['=1'])).toContain('expected KEY=VALUE');
    expect(problem('', ['ppo..clipRange=1'])).toContain('expected KEY=VALUE');
    expect(problem('', ['seed=[1'])).toContain('--set seed=[1');
    expect(problem('', ['seed.deeper=1'])).toContain('expected an integer');
  });

  test('never reaches the prototype of objects', () => {
    for (const text of [
      '__proto__: {polluted: 1}',
      'ppo: {__proto__: {polluted: 1}}',
      '{"__proto__": {"polluted": 1}}',
    ]) {
      expect(problem(text)).toContain('refused key __proto__');
    }
    expect(problem('', ['__proto__.polluted=1'])).toContain('refused key __proto__');
    expect(problem('', ['ppo={__proto__: {polluted: 1}}'])).toContain('refused key __proto__');
    expect(problem('constructor: {prototype: {polluted: 1}}')).toContain('unknown key constructor');
    expect(problem('', ['constructor.prototype.polluted=1', 'toString.polluted=1'])).toContain('unknown key toString');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((Object as unknown as Record<string, unknown>)['polluted']).toBeUndefined();
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
    const file = join(mkdtempSync(join(tmpdir(), 'kgwalk-config-')), 'p.yaml');
    writeFileSync(file, 'seed: x');
    expect(() => loadConfig(schema, { file })).toThrow(`${file}:1`);
  });
});

describe('comparing settings', () => {
  test('canonical JSON has sorted keys at every level', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
  });

  test('equal settings have one hash in any order of keys', () => {
    fc.assert(
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
});
