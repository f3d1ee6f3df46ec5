import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { z } from 'zod';
import { readCheckpoint, schemaVersion } from '../../checkpoints/checkpoint.js';
import { encodeSafetensors } from '../../checkpoints/safetensors.js';
import { readCustomQuestions } from '../../datasets/custom/read-questions.js';
import { readDialogues } from '../../datasets/opendialkg/read-dialogues.js';
import { loadPreset, runSettings } from '../../presets/index.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { looseValues } from '../../src/llm/decisions/loose-json.js';
import { parseConfigText, parseOverride } from '../../src/run/config-source.js';
import { canonicalJson } from '../../src/run/config-values.js';
import { applyOverrides, loadConfig } from '../../src/run/config.js';
import { packageRoot, presetNames } from '../../src/run/locations.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { furtherKey, ofShape, openObject, parseJson } from '../../src/run/read-json.js';
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

describe('prototypes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-hostile-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  /** In every way that JSON can say it. */
  const payloads = [
    '{"__proto__":{"polluted":"yes"}}',
    '{"constructor":{"prototype":{"polluted":"yes"}}}',
    '{"a":{"__proto__":{"polluted":"yes"},"toString":1,"hasOwnProperty":2}}',
    '{"__proto__":null,"polluted":"no"}',
  ];

  afterEach(() => {
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(([] as unknown as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  describe('no key of a file reaches a prototype', () => {
    test.each(payloads)('of JSON whose shape is checked: %s', (text) => {
      const about = { what: 'it', place: 'x.json' };
      const value = parseJson(text, about);
      for (const schema of [
        openObject({}),
        z.record(z.string(), z.unknown()),
        openObject({ a: furtherKey.optional() }),
      ]) {
        const read = ofShape(value, schema as z.ZodType<object>, about);
        expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
        expect((read as Record<string, unknown>).polluted).not.toBe('yes');
      }
      expect(typeof canonicalJson(value)).toBe('string');
    });

    test.each(payloads)('of settings, of a file and of the command line: %s', (text) => {
      const schema = z.object({ a: z.unknown().optional() }).catchall(z.unknown());
      try {
        const config = loadConfig(schema, { text });
        expect((config as Record<string, unknown>).polluted).not.toBe('yes');
      } catch (error) {
        expect((error as Error).message).toContain('refused key __proto__');
      }
      expect(parseConfigText('x: &a {"__proto__": {polluted: yes}}\ny: *a', 'x').problems).toHaveLength(1);
      for (const key of ['__proto__.polluted', 'a.__proto__.polluted']) {
        expect(parseOverride(`${key}=yes`)).toHaveProperty('problem');
      }
      loadConfig(schema, { text: 'a: {}', overrides: ['a.constructor.prototype.polluted=yes', 'toString=1'] });
      expect(() => loadPreset('opendialkg', ['constructor.prototype.polluted=yes'])).toThrow(/unknown key constructor/);
      expect(applyOverrides({}, [{ path: ['constructor', 'prototype', 'polluted'], value: 'yes' }])).toEqual({
        constructor: { prototype: { polluted: 'yes' } },
      });
      expect(
        applyOverrides({}, [
          { path: ['a'], value: 5 },
          { path: ['a', 'b'], value: 1 },
        ]),
      ).toEqual({ a: { b: 1 } });
    });

    test('of dialogues, questions, metrics, checkpoints and replies', async () => {
      const line =
        '{"messages":[{"sender":"user","message":"x","__proto__":{"polluted":"yes"}}],"__proto__":{"polluted":1}}';
      await readDialogues(file('a.jsonl', `${line}\n`));
      const builder = new GraphBuilder();
      builder.add('__proto__', 'constructor', 'toString');
      const graph = builder.build('g', { addInverses: true });
      expect(graph.entityId('__proto__')).toBe(0);
      expect(graph.entityId('hasOwnProperty')).toBe(-1);
      const questions = readCustomQuestions(
        file(
          'q.jsonl',
          '{"id":"__proto__","question":"[__proto__]","answers":["toString"],"aliases":{"__proto__":["x"]},"split":"constructor"}\n',
        ),
        { graph, resolve: (name) => name },
      );
      const own = new Map(Object.entries(questions)).get('constructor')!;
      expect(own.questions).toMatchObject([{ answers: [{ name: 'toString' }] }]);
      expect(own.questions[0]!.answers[0]!.aliases).toBeUndefined();
      const metrics = '{"phase":"ppo","step":1,"metrics":{"__proto__":1,"constructor":2}}';
      const [record] = readMetrics(file('m.jsonl', `${metrics}\n`));
      expect(Object.getPrototypeOf(record!.metrics)).toBe(Object.prototype);
      const header = {
        ...{ schemaVersion, kind: 'walker', config: {}, configHash: '', hashes: {}, phase: 'ppo', step: 1, epoch: 0 },
        ...{ trainer: {}, metrics: {} },
      };
      const text = JSON.stringify(header).replace('"trainer":{}', '"trainer":{"__proto__":{"polluted":"yes"}}');
      const bytes = encodeSafetensors({
        tensors: new Map([['__proto__', { shape: [1], data: new Float32Array(1) }]]),
        metadata: new Map([['kgwalk', text]]),
      });
      writeFileSync(join(folder, 'c.safetensors'), bytes);
      const { tensors, header: read } = readCheckpoint(join(folder, 'c.safetensors'));
      expect(Object.keys(tensors)).toEqual(['__proto__']);
      expect((read.trainer as Record<string, unknown>).polluted).not.toBe('yes');
      for (const payload of payloads) looseValues(payload);
    });
  });
});
