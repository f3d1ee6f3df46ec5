import { beforeAll, describe, expect, test } from '@jest/globals';
import { encodeGraph, frozenTables } from '../../../agents/walker/vectors.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { principalComponents } from '../../../src/tensor/principal-components.js';
import { tinySettings } from '../../fixtures/toy-walker.js';
import { toyTwoHop } from '../../fixtures/toy-walks.js';

const { graph } = toyTwoHop();
const names = { settings: { lastMessageTokens: 9, windowTokens: 9, windowMessages: 3, nameTokens: 9 } };
const texts = await encodeGraph(hashedEncoder(16), graph, names);
const transe = {
  dim: 3,
  entities: Float32Array.from({ length: 3 * graph.numEntities }, (_, i) => Math.sin(i)),
  relations: Float32Array.from({ length: 3 * graph.numRelations }, (_, i) => Math.cos(i)),
};

let tf: Tf;
beforeAll(async () => {
  ({ tf } = await openBackend('cpu'));
});

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
    const { entities, entityDim } = await frozenTables(tf, graph, texts, transe, settings);
    expect(entityDim).toBe(4 + 3 + 4);
    expect(entities).toHaveLength(graph.numEntities * entityDim);
    for (const [begin, end] of [
      [0, 4],
      [4, 7],
      [7, 11],
    ] as const) {
      expect(meanNorm(columns(entities, entityDim, begin, end), end - begin)).toBeCloseTo(1, 5);
    }
    const name = await principalComponents(
      tf,
      (b, e) => texts.entities.subarray(b * 16, e * 16),
      graph.numEntities,
      16,
      4,
    );
    expect(columns(entities, entityDim, 7, 11)).toEqual(name.rows);
    const embedded = columns(entities, entityDim, 4, 7);
    const scale = embedded[1]! / transe.entities[1]!;
    embedded.forEach((value, i) => expect(value).toBeCloseTo(scale * transe.entities[i]!, 5));
  });

  test('give entities with equal counts of relations equal signatures, others different ones', async () => {
    const { entities, entityDim } = await frozenTables(
      tf,
      graph,
      texts,
      undefined,
      tinySettings({ entityVectors: ['signature'] }),
    );
    const row = (name: string) =>
      Array.from(entities.subarray(graph.entityId(name) * entityDim, (graph.entityId(name) + 1) * entityDim));
    row('london').forEach((value, i) => expect(value).toBeCloseTo(row('juno')[i]!, 6));
    const distance = (a: string, b: string) => Math.hypot(...row(a).map((value, i) => value - row(b)[i]!));
    expect(distance('film', 'london')).toBeGreaterThan(0.1);
    expect(distance('nolan', 'page')).toBeGreaterThan(0.1);
  });

  test('take relations from their names as they are, or from TransE', async () => {
    const byName = await frozenTables(tf, graph, texts, undefined, tinySettings());
    expect([byName.relations, byName.relationDim]).toEqual([texts.relations, 16]);
    const byTranse = await frozenTables(tf, graph, texts, transe, tinySettings({ relationVectors: 'transe' }));
    expect(byTranse.relationDim).toBe(3);
    expect(meanNorm(byTranse.relations, 3)).toBeCloseTo(1, 5);
    expect(byTranse.relations[1]! / byTranse.relations[0]!).toBeCloseTo(transe.relations[1]! / transe.relations[0]!, 4);
  });

  test.each([{ entityVectors: ['transe' as const] }, { relationVectors: 'transe' as const }])(
    'are refused where TransE is asked for and absent: %j',
    async (changes) => {
      const made = frozenTables(tf, graph, texts, undefined, tinySettings(changes));
      await expect(made).rejects.toThrow(WorkbenchError);
      await expect(made).rejects.toThrow(/expected TransE embeddings/);
    },
  );

  test('leave no tensor behind', async () => {
    const before = tf.memory().numTensors;
    await frozenTables(tf, graph, texts, undefined, tinySettings());
    expect(tf.memory().numTensors).toBe(before);
  });
});
