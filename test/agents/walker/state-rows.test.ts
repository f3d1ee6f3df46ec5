import { describe, expect, test } from '@jest/globals';
import type { WalkerSettings } from '../../../agents/walker/settings.js';
import { allocateBatch, createStateRows, scalarNames, type StateBatch } from '../../../agents/walker/heads/head.js';
import { roundedToBfloat16 } from '../../../src/tensor/ops.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { tinySettings } from '../../fixtures/toy-walker.js';

/** Three entities and two relations, with vectors that identify the source of each number. */
const tables = {
  entities: Float32Array.of(10, 11, 20, 21, 30, 31),
  entityDim: 2,
  relations: Float32Array.of(100, 200),
  relationDim: 1,
};
const [equal, none] = [2, 3];
const contextDim = 4;
const numScalars = scalarNames().length;

/** A walk that stands at its start, and one that went from entity 0 to 2 by relation 1 after a path that ended in 0. */
function twoStates(): StateBatch {
  const batch = allocateBatch(2, 0, { contextDim, numScalars, numEdgeFeatures: 0, horizon: 2 });
  batch.context.set([1, 2, 3, 4, 5, 6, 7, 9]);
  batch.start.set([1, 0]);
  batch.current.set([1, 2]);
  batch.lastRelation.set([none, 1]);
  batch.previousPathRelation.set([none, 0]);
  batch.scalars.set([0, 1, 0, 0, 0, 0.25, 1, 1, 1, 0, 1, 0.5]);
  return batch;
}

const paper = { placeVectors: false } as const;
const rowsOf = (changes: Partial<WalkerSettings>, withRelations = true, horizon = 3) =>
  createStateRows(
    tinySettings({ head: 'pa-mlp', ...changes }),
    { contextDim, horizon, numScalars, tables },
    withRelations,
  );

describe('the rows of states', () => {
  test('hold text, place and scalars, with the relations or without', () => {
    const actor = rowsOf({});
    const first = [1, 2, 3, 4, 20, 21, 20, 21, 0, 0, 0, 1, 0, 0, 0, 0.25];
    const second = [5, 6, 7, 9, 10, 11, 30, 31, 200, 100, 1, 1, 1, 0, 1, 0.5];
    expect(actor.dim).toBe(16);
    expect([...actor.of(twoStates())]).toEqual([...first, ...second]);
    const critic = rowsOf({}, false);
    expect(critic.dim).toBe(14);
    const without = (row: number[]) => row.filter((_, i) => i < 8 || i > 9);
    expect([...critic.of(twoStates())]).toEqual([...without(first), ...without(second)]);
    expect(scalarNames()).toHaveLength(6);
  });

  test('have zeros for a stay and for no relation', () => {
    const batch = twoStates();
    batch.lastRelation[1] = equal;
    expect([...rowsOf({}).of(batch)].slice(16 + 8, 16 + 10)).toEqual([0, 100]);
  });

  test('are the text alone as published, the same for actor and critic', () => {
    for (const withRelations of [true, false]) {
      const rows = rowsOf(paper, withRelations);
      expect(rows.dim).toBe(contextDim);
      expect(rows.of(twoStates())).toEqual(twoStates().context);
    }
  });

  test('add a sinusoid of the step to the text, nothing at the first step', () => {
    const rows = rowsOf({ ...paper, stepEncoding: 'additive-sin' });
    expect(rows.dim).toBe(contextDim);
    const [sin, cos] = [Math.sin(1), Math.cos(1)];
    expectClose(rows.of(twoStates()), [1, 2, 3, 4, 5 + sin, 6 + cos, 7 + Math.sin(0.01), 9 + Math.cos(0.01)], 1e-6);
    const third = twoStates();
    third.scalars[numScalars] = 2;
    expectClose(rows.of(third).subarray(4, 6), [5 + Math.sin(2), 6 + Math.cos(2)], 1e-6);
  });

  test.each([true, false])('append the step as one-hot up to the horizon, place vectors %s', (placeVectors) => {
    const [plain, rows] = [rowsOf({ placeVectors }), rowsOf({ placeVectors, stepEncoding: 'concat' })];
    expect(rows.dim).toBe(plain.dim + 3);
    const [before, got] = [plain.of(twoStates()), rows.of(twoStates())];
    [
      [1, 0, 0],
      [0, 1, 0],
    ].forEach((steps, s) => {
      const own = [...before.subarray(s * plain.dim, (s + 1) * plain.dim)];
      expect([...got.subarray(s * rows.dim, (s + 1) * rows.dim)]).toEqual([...own, ...steps]);
    });
  });

  test('have text of mean 0 and variance 1 before the step is added, and nothing else changed', () => {
    const rows = rowsOf({ stateNorm: 'layer', stepEncoding: 'additive-sin' }).of(twoStates());
    const [mean, deviation] = [2.5, Math.sqrt(1.25 + 1e-5)];
    expectClose(
      rows.subarray(0, 4),
      [1, 2, 3, 4].map((value) => (value - mean) / deviation),
      1e-6,
    );
    const [other, spread] = [6.75, Math.sqrt(2.1875 + 1e-5)];
    const step = [Math.sin(1), Math.cos(1), Math.sin(0.01), Math.cos(0.01)];
    expectClose(
      rows.subarray(16, 20),
      [5, 6, 7, 9].map((value, i) => (value - other) / spread + step[i]!),
      1e-6,
    );
    expect([...rows.subarray(4, 16)]).toEqual([...rowsOf({}).of(twoStates()).subarray(4, 16)]);
  });

  test('are rounded to bfloat16 when asked for, and leave the batch as it is', () => {
    const batch = twoStates();
    batch.context.set([1 / 3, -1.01, 1e-3, 257]);
    const before = structuredClone(batch);
    const changes = { stateNorm: 'layer', stepEncoding: 'additive-sin' } as const;
    const exact = rowsOf(changes).of(batch);
    expect(rowsOf({ ...changes, precision: 'bf16' }).of(batch)).toEqual(roundedToBfloat16(exact));
    expect(rowsOf({ ...paper, precision: 'bf16' }).of(batch)[3]).toBe(256);
    expect(batch).toEqual(before);
  });
});
