import { describe, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  encodeGraph,
  encodeTasks,
  frozenTables,
  readTables,
  writeTables,
} from '../../../agents/dialogue-walker/vectors.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { principalComponents } from '../../../src/nn/principal-components.js';
import { laterSample, tinySettings } from '../../fixtures/toy-walker.js';
import { graphOf, toyTwoHop } from '../../fixtures/toy-walks.js';
import type { EncodeOptions, StateEncoder } from '../../../src/encoder/state-encoder.js';
import { encodeSafetensors } from '../../../checkpoints/safetensors.js';

const { graph } = toyTwoHop();
const names = { settings: { lastMessageTokens: 9, windowTokens: 9, windowMessages: 3, nameTokens: 9 } };
const texts = await encodeGraph(hashedEncoder(16), graph, names);
const transe = {
  dim: 3,
  entities: Float32Array.from({ length: 3 * graph.numEntities }, (_, i) => Math.sin(i)),
  relations: Float32Array.from({ length: 3 * graph.numRelations }, (_, i) => Math.cos(i)),
};

const columns = (table: Float32Array, width: number, begin: number, end: number) =>
  Float32Array.from(table.filter((_, i) => i % width >= begin && i % width < end));
const meanNorm = (table: Float32Array, width: number) => {
  let sum = 0;
  for (let i = 0; i < table.length; i += width) sum += Math.hypot(...table.subarray(i, i + width));
  return sum / (table.length / width);
};

describe('frozen tables', () => {
  test('B-ARK-15: set the asked parts of an entity side by side, each of mean norm one', async () => {
    const settings = tinySettings({ entityVectors: ['signature', 'transe', 'name'] });
    const { entities, entityDim } = await frozenTables(graph, texts, transe, settings);
    expect(entityDim).toBe(4 + 3 + 4);
    expect(entities).toHaveLength(graph.numEntities * entityDim);
    const norms = [0, 4, 7].map((begin, i) => {
      const end = [4, 7, 11][i]!;
      return meanNorm(columns(entities, entityDim, begin, end), end - begin);
    });
    expect(norms).toEqual(norms.map(() => expect.closeTo(1, 5)));
    const rows = (begin: number, end: number) => texts.entities.subarray(begin * 16, end * 16);
    const name = principalComponents(rows, graph.numEntities, 16, 4);
    expect(columns(entities, entityDim, 7, 11)).toEqual(name.rows);
    const embedded = columns(entities, entityDim, 4, 7);
    const scale = embedded[1]! / transe.entities[1]!;
    embedded.forEach((value, i) => expect(value).toBeCloseTo(scale * transe.entities[i]!, 5));
  });

  test('give entities with equal counts of relations equal signatures, others different ones', async () => {
    const settings = tinySettings({ entityVectors: ['signature'] });
    const { entities, entityDim: dim } = await frozenTables(graph, texts, undefined, settings);
    const row = (name: string) => {
      const at = graph.entityId(name) * dim;
      return Array.from(entities.subarray(at, at + dim));
    };
    row('london').forEach((value, i) => expect(value).toBeCloseTo(row('juno')[i]!, 6));
    const distance = (a: string, b: string) => Math.hypot(...row(a).map((value, i) => value - row(b)[i]!));
    expect(distance('film', 'london')).toBeGreaterThan(0.1);
    expect(distance('nolan', 'page')).toBeGreaterThan(0.1);
  });

  test('take relations from their names as they are, or from TransE', async () => {
    const byName = await frozenTables(graph, texts, undefined, tinySettings());
    expect([byName.relations, byName.relationDim]).toEqual([texts.relations, 16]);
    const byTranse = await frozenTables(graph, texts, transe, tinySettings({ relationVectors: 'transe' }));
    expect(byTranse.relationDim).toBe(3);
    expect(meanNorm(byTranse.relations, 3)).toBeCloseTo(1, 5);
    expect(byTranse.relations[1]! / byTranse.relations[0]!).toBeCloseTo(transe.relations[1]! / transe.relations[0]!, 4);
  });

  test.each([{ entityVectors: ['transe' as const] }, { relationVectors: 'transe' as const }])(
    'are refused where TransE is asked for and absent: %j',
    async (changes) => {
      const made = frozenTables(graph, texts, undefined, tinySettings(changes));
      await expect(made).rejects.toThrow(WorkbenchError);
      await expect(made).rejects.toThrow(/expected TransE embeddings/);
    },
  );
});

const named = graphOf('names', [
  ['Inception', 'directed_by', 'Nolan'],
  ['Nolan', '~directed_by', 'Inception'],
  ['Nolan', 'born.in-city', 'London'],
]);
const gold = [['Inception', 'directed_by', 'Nolan']] as const;
const settings = { lastMessageTokens: 2, windowTokens: 5, windowMessages: 3, nameTokens: 7 };

/** An encoder that remembers what it was asked. */
function listening() {
  const encoder = hashedEncoder(16);
  const asked: { texts: readonly string[]; maxTokens: number | undefined }[] = [];
  const encode = (texts: readonly string[], options?: EncodeOptions) => {
    asked.push({ texts, maxTokens: options?.maxTokens });
    return encoder.encode(texts, options);
  };
  return { asked, encoder: { ...encoder, encode } satisfies StateEncoder };
}

describe('vectors of names', () => {
  test('are asked for once, with relations in words and inverses called so', async () => {
    const { asked, encoder } = listening();
    const { entities, relations, dim } = await encodeGraph(encoder, named, { settings });
    expect(asked).toEqual([
      { texts: ['Inception', 'Nolan', 'London'], maxTokens: 7 },
      { texts: ['directed by', 'inverse of directed by', 'born in city'], maxTokens: 7 },
    ]);
    expect([entities.length, relations.length, dim]).toEqual([48, 48, 16]);
    const { matrix } = await hashedEncoder(16).encode(['Nolan']);
    expect(entities.slice(16, 32)).toEqual(matrix);
  });

  test('have a row for every name, even where two relations read the same', async () => {
    const twice = graphOf('twice', [
      ['a', 'born_in', 'b'],
      ['a', 'born.in', 'b'],
    ]);
    const { relations } = await encodeGraph(hashedEncoder(16), twice, { settings });
    expect(relations).toHaveLength(32);
    expect(relations.slice(16)).toEqual(relations.slice(0, 16));
  });
});

describe('vectors of dialogues', () => {
  const dialogues = [
    laterSample(named, 'a', 'a', ['one', ' two ', 'three', 'four'], [], gold),
    laterSample(named, 'b', 'b', ['four'], [], gold),
    laterSample(named, 'c', 'c', [], [], gold),
  ];
  const tasks = dialogues.map(({ task }) => task);

  test('are those of the last message and of the last few, oldest first', async () => {
    const { asked, encoder } = listening();
    await encodeTasks(encoder, tasks, { settings });
    expect(asked).toEqual([
      { texts: ['four', 'four', ''], maxTokens: 2 },
      { texts: ['two\nthree\nfour', 'four', ''], maxTokens: 5 },
    ]);
  });

  test('are found by task, each distinct text encoded once, silence being zero', async () => {
    const encoder = hashedEncoder(16);
    const { last, rowOf } = await encodeTasks(encoder, tasks, { settings });
    // 'four' twice of last messages, then the two windows that are not blank.
    expect(encoder.counters.encodes).toBe(3);
    const vector = (id: string) => {
      const row = last.rows[rowOf.get(id)!]!;
      return Array.from(last.matrix.subarray(row * 16, (row + 1) * 16));
    };
    expect(vector('a')).toEqual(vector('b'));
    expect(vector('a')).toContainEqual(expect.not.closeTo(0, 3));
    expect(vector('c')).toEqual(new Array(16).fill(0));
  });
});

describe('the tables of a run', () => {
  const tables = {
    ...{ entities: Float32Array.of(1, 2, 3, 4, 5, 6), entityDim: 2 },
    ...{ relations: Float32Array.of(-0, 0.1, 1e-30, 7), relationDim: 4 },
  };
  const run = mkdtempSync(join(tmpdir(), 'kgwalk-tables-'));
  const file = join(run, 'embeddings', 'walker-tables.safetensors');

  test('are absent where a run has none yet, and come back bit for bit, in one file of equal bytes', () => {
    expect(readTables(run)).toBeUndefined();
    writeTables(run, tables);
    expect(readTables(run)).toEqual(tables);
    const bytes = readFileSync(file);
    writeTables(run, readTables(run)!);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(readdirSync(join(run, 'embeddings'))).toEqual(['walker-tables.safetensors']);
  });

  test('are refused where the file was cut short, or one of them is missing', () => {
    writeTables(run, tables);
    const tensors = new Map([['entities', { shape: [3, 2], data: tables.entities }]]);
    for (const bad of [readFileSync(file).subarray(0, -3), encodeSafetensors({ tensors, metadata: new Map() })]) {
      writeFileSync(file, bad);
      expect(() => readTables(run)).toThrow(WorkbenchError);
    }
  });
});
