import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { Checkpoint, CheckpointHeader, JsonObject } from '../../checkpoints/checkpoint.js';
import { checkFits, readCheckpoint, schemaVersion, writeCheckpoint } from '../../checkpoints/checkpoint.js';
import { encodeSafetensors } from '../../checkpoints/safetensors.js';
import type { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';

const folder = mkdtempSync(join(tmpdir(), 'kgwalk-checkpoint-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'a.safetensors');

const header: CheckpointHeader = {
  schemaVersion,
  kind: 'walker',
  config: { ppo: { clipRange: 0.2 }, name: 'tiny' },
  configHash: 'c0ffee',
  hashes: { graph: 'g1', encoder: 'minilm' },
  phase: 'ppo',
  step: 120,
  epoch: 3,
  trainer: { rng: [1, -2, 3, 4, 0.25], updates: 120 },
  metrics: { 'eval/path@1': 0.291 },
};
const tensors = { 'policy/w': { shape: [2, 2], data: new Float32Array([1, 2, 3, 4]) } };

/** A file whose header is `value`, unchecked. */
function writeHeader(value: unknown): void {
  const metadata = new Map([['kgwalk', JSON.stringify(value)]]);
  writeFileSync(file, encodeSafetensors({ tensors: new Map(), metadata }));
}

function errorOf(action: () => unknown): WorkbenchError {
  try {
    action();
  } catch (error) {
    return error as WorkbenchError;
  }
  throw new Error('expected a refusal');
}

describe('a checkpoint', () => {
  test('comes back as it was written', () => {
    writeCheckpoint(file, { header, tensors });
    const read = readCheckpoint(file, { finite: true });
    expect(read.header).toEqual(header);
    expect({ ...read.tensors }).toEqual(tensors);
  });

  test('equal content gives equal bytes, for any order of keys', () => {
    writeCheckpoint(file, { header, tensors });
    const bytes = readFileSync(file);
    const shuffled = Object.fromEntries(Object.entries(header).reverse()) as CheckpointHeader;
    const config = Object.fromEntries(Object.entries(header.config).reverse());
    writeCheckpoint(file, { header: { ...shuffled, config }, tensors });
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  test('resumes a generator exactly', () => {
    const rng = new Rng(7);
    rng.normal();
    writeCheckpoint(file, { header: { ...header, trainer: { rng: rng.state() } }, tensors });
    const resumed = Rng.fromState(readCheckpoint(file).header.trainer.rng as number[]);
    expect([resumed.normal(), resumed.uniform()]).toEqual([rng.normal(), rng.uniform()]);
  });

  test('refuses to write what JSON would change', () => {
    const bad = (trainer: unknown): Checkpoint => ({ header: { ...header, trainer: trainer as JsonObject }, tensors });
    expect(() => writeCheckpoint(file, bad({ best: NaN }))).toThrow('got NaN, at checkpoint header.trainer.best');
    expect(() => writeCheckpoint(file, bad({ a: [undefined] }))).toThrow('header.trainer.a[0]');
    expect(() => writeCheckpoint(file, bad({ rng: new Int32Array(4) }))).toThrow('Int32Array');
    expect(() => writeCheckpoint(file, bad({ seen: new Map() }))).toThrow('Map');
  });

  test('a safetensors file of another program, a later version and a damaged header are each refused with the reason', () => {
    writeFileSync(file, encodeSafetensors({ tensors: new Map(), metadata: new Map() }));
    expect(errorOf(() => readCheckpoint(file)).message).toContain('expected a kgwalk checkpoint');
    writeHeader({ ...header, schemaVersion: 3 });
    const later = errorOf(() => readCheckpoint(file));
    expect(later.message).toBe(`expected checkpoint version 2, got 3, at ${file}`);
    expect(later.hint).toContain('version of kgwalk');
    writeHeader({ ...header, schemaVersion: 'constructor' });
    expect(errorOf(() => readCheckpoint(file)).message).toContain('got "constructor"');
    writeHeader({ ...header, step: -1, extra: 1 });
    expect(errorOf(() => readCheckpoint(file)).message).toMatch(/step[^]*extra|extra[^]*step/);
    writeHeader(JSON.parse('{"schemaVersion":2,"__proto__":{"kind":"walker"}}'));
    expect(errorOf(() => readCheckpoint(file)).code).toBe('data');
  });

  test('one without a sha256 is refused', () => {
    const text = JSON.stringify({ __metadata__: { kgwalk: JSON.stringify(header) } });
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
    writeFileSync(file, Buffer.concat([length, Buffer.from(text)]));
    expect(errorOf(() => readCheckpoint(file)).message).toBe(
      `expected a checkpoint with its sha256, got one without, at ${file}`,
    );
  });

  test('a tensor that is called __proto__ stays a tensor', () => {
    const odd = JSON.parse('{"__proto__":0}') as Record<string, never>;
    Object.defineProperty(odd, '__proto__', { value: tensors['policy/w'], enumerable: true });
    writeCheckpoint(file, { header, tensors: odd });
    expect(Object.keys(readCheckpoint(file).tensors)).toEqual(['__proto__']);
  });
});

describe('checkFits', () => {
  test('accepts equal hashes and compares only what is given', () => {
    checkFits(header, { graph: 'g1', encoder: 'minilm' });
    checkFits(header, {});
  });

  test('B-ARK-14: refuses another graph, another encoder and a hash the checkpoint lacks, with a remedy', () => {
    const graph = errorOf(() => checkFits(header, { graph: 'g2' }, 'runs/a'));
    expect(graph.message).toBe('expected a checkpoint of graph g2, got one of g1, at runs/a');
    expect(graph.hint).toContain('graph it was trained on');
    expect(errorOf(() => checkFits(header, { encoder: 'bge' })).hint).toContain('--encoder');
    expect(errorOf(() => checkFits(header, { dataset: 'd' })).message).toContain('got one of none');
  });
});
