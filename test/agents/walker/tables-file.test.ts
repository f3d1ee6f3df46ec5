import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readTables, writeTables } from '../../../agents/walker/vectors.js';
import { encodeSafetensors, type Tensor } from '../../../checkpoints/safetensors.js';
import { WorkbenchError } from '../../../src/run/errors.js';

const tables = {
  entities: Float32Array.from([1, 2, 3, 4, 5, 6]),
  entityDim: 2,
  relations: Float32Array.from([-0, 0.1, 1e-30, 7]),
  relationDim: 4,
};

let run: string;
let file: string;
beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), 'kgwalk-tables-'));
  mkdirSync(join(run, 'embeddings'));
  file = join(run, 'embeddings', 'walker-tables.safetensors');
});
afterEach(() => rmSync(run, { recursive: true }));

const codeOf = (body: () => unknown) => {
  try {
    body();
  } catch (error) {
    return error instanceof WorkbenchError ? error.code : String(error);
  }
  return 'no error';
};

describe('the tables of a run', () => {
  test('come back bit for bit, in one file of equal bytes', () => {
    writeTables(run, tables);
    expect(readTables(run)).toEqual(tables);
    const bytes = readFileSync(file);
    writeTables(run, readTables(run)!);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(readdirSync(join(run, 'embeddings'))).toEqual(['walker-tables.safetensors']);
  });

  test('are absent where a run has none yet', () => {
    expect(readTables(run)).toBeUndefined();
  });

  test('are refused when the file was cut short', () => {
    writeTables(run, tables);
    writeFileSync(file, readFileSync(file).subarray(0, -3));
    expect(codeOf(() => readTables(run))).toBe('data');
  });

  test('are refused when one of them is missing', () => {
    const tensors = new Map<string, Tensor>([['entities', { shape: [3, 2], data: tables.entities }]]);
    writeFileSync(file, encodeSafetensors({ tensors, metadata: new Map() }));
    expect(codeOf(() => readTables(run))).toBe('data');
  });
});
