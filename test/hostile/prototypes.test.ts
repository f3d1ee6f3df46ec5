import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { readCheckpoint, schemaVersion } from '../../checkpoints/checkpoint.js';
import { encodeSafetensors } from '../../checkpoints/safetensors.js';
import { readCustomQuestions } from '../../datasets/custom/read-questions.js';
import { readDialogues } from '../../datasets/opendialkg/read-dialogues.js';
import { loadPreset } from '../../presets/index.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { looseValues } from '../../src/llm/decisions/loose-json.js';
import { canonicalJson } from '../../src/run/config-values.js';
import { applyOverrides, loadConfig } from '../../src/run/config.js';
import { parseConfigText, parseOverride } from '../../src/run/config-source.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { furtherKey, ofShape, openObject, parseJson } from '../../src/run/read-json.js';

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
