import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { runSettings } from '../../presets/index.js';
import { loadConfig } from '../../src/run/config.js';
import { parseConfigText } from '../../src/run/config-source.js';
import { packageRoot, presetNames } from '../../src/run/locations.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { hostileBytes, nasty, spoiltText } from '../fixtures/spoilt.js';

const presets = presetNames().map((name) => readFileSync(join(packageRoot(), 'presets', `${name}.yaml`), 'utf8'));
const full = stringify(loadConfig(runSettings, { text: presets[0]! }));
const marks = [
  'a: &a {b: *a}',
  'a: !!js/function "x"',
  '- - - b',
  '? a',
  '<<: *x',
  '%YAML 9.9',
  '--- ',
  '...',
  '| \n x',
  '{a: ',
];

describe('settings', () => {
  test('of a file are every key with its value, or one error that lists what is wrong', async () => {
    const { path, write } = hostileFile('preset.yaml');
    await withstands(
      hostileBytes(full, ...presets, ...marks),
      (bytes) => loadConfig(runSettings, { file: write(bytes) }),
      {
        place: path,
      },
    );
  });

  test('are quoted in part where they are long', () => {
    for (const text of ['a'.repeat(5000), `seed: ${'a'.repeat(5000)}`, `${'a'.repeat(5000)}: 1`]) {
      expect(() => loadConfig(runSettings, { text })).toThrow(/^[^]{20,300}$/);
    }
  });

  test('of the command line are taken, or refused by name', async () => {
    const valid = ['seed=4', 'walker.sizes=[8, 4]', 'ppo.targetKl=0.01', 'name="7"', 'data.subsets=[a]'];
    const inputs = fc.array(fc.oneof(spoiltText(...valid), fc.constantFrom(...valid, ...nasty)), { maxLength: 3 });
    await withstands(inputs, (overrides) => loadConfig(runSettings, { text: 'seed: 1', overrides }), {
      place: 'at',
    });
  });
});

describe('a text that would take the parser', () => {
  const problems = (text: string) => parseConfigText(text, 'x.yaml').problems.join('; ');

  // Without the limit the first of these ends the process: the parser recurses until an expression cannot be compiled.
  test.each([
    ['brackets that never close', '['.repeat(20_000)],
    ['sections within sections', '{a: '.repeat(10_000)],
    ['lists within lists', '- '.repeat(20_000)],
    ['keys within keys', '? '.repeat(20_000)],
    ['a key deeper on every line', Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ])('too deep is refused before it is parsed: %s', (_name, text) => {
    expect(problems(text)).toMatch(/^expected at most 64 levels, got more, at x\.yaml$/);
  });

  test('too long is refused before it is parsed', () => {
    expect(problems(Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join('\n'))).toMatch(
      /^expected at most 65536 characters, got \d+, at x\.yaml$/,
    );
  });

  test('too long by its references is refused while it is put together', () => {
    const levels = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const bomb = levels.map((name, i) => `${name}: &${name} [${`*${levels[i - 1] ?? 'a0'}, `.repeat(9)}]`);
    expect(problems(['a0: &a0 [x]', ...bomb].join('\n'))).toMatch(/alias count .* at x\.yaml/);
  });

  test('brackets in text and deep indentation of a text are no depth', () => {
    const text = `a: "${'['.repeat(100)}"\nb: |\n  ${'['.repeat(100)}\n${' '.repeat(300)}x\nc: x\n`;
    expect(problems(text)).toBe('');
  });
});
