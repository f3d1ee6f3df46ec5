import { describe, expect, test } from '@jest/globals';
import { type EmbeddingTable, meanEntityNorm, normalisedTable, scoreTriple } from '../../../src/embedding/transe.js';

const table: EmbeddingTable = {
  model: 'transe',
  norm: 1,
  dim: 2,
  numEntities: 3,
  numRelations: 1,
  entities: Float32Array.of(0, 3, 4, 0, 3, 4),
  relations: Float32Array.of(1, -1),
};

describe('an embedding table', () => {
  test('measures head + relation − tail in L1 and L2', () => {
    // (0, 3) + (1, −1) − (4, 0) = (−3, 2)
    expect(scoreTriple(table, 0, 0, 1)).toBe(-5);
    expect(scoreTriple({ ...table, norm: 2 }, 0, 0, 1)).toBeCloseTo(-Math.sqrt(13));
  });

  test('is normalised to entities of mean norm 1 by one factor, which keeps the order of distances', () => {
    expect(meanEntityNorm(table)).toBe(4);
    const { table: scaled, scale } = normalisedTable(table);
    expect(scale).toBe(1 / 4);
    expect(meanEntityNorm(scaled)).toBeCloseTo(1);
    expect(scoreTriple(scaled, 0, 0, 1)).toBeCloseTo(-5 / 4);
    expect(table.entities[1]).toBe(3);
  });
});
