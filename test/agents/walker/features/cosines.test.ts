import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CosineMemo, EntityCosines } from '../../../../agents/walker/features/cosines.js';
import { Rng } from '../../../../src/run/seeds.js';
import { checkProperty } from '../../../fixtures/property.js';

const numEntities = 37;

describe.each([2, 6, 7, 384])('cosines over vectors of %i numbers', (dim) => {
  const rng = Rng.named(dim, 'test/cosines');
  const random = (count: number) => Float32Array.from({ length: count }, () => rng.normal());
  const table = random(numEntities * dim);
  const queries = [random(dim), random(dim), random(dim)];

  test('that were prepared are to the bit those that are computed one by one', () => {
    const many = new EntityCosines(table, dim);
    let generation = 0;
    const asked = fc.array(
      fc.record({
        query: fc.nat(1),
        lists: fc.array(fc.array(fc.nat(numEntities - 1), { maxLength: 12 }), { maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 4 },
    );
    checkProperty(
      fc.property(asked, (dialogues) => {
        for (const { query, lists } of dialogues) {
          const [last, window] = [new CosineMemo(table, dim), new CosineMemo(table, dim)];
          last.open(queries[query]!, 1);
          window.open(queries[query + 1]!, 1);
          many.open(queries[query]!, queries[query + 1]!, ++generation);
          for (const list of lists) {
            many.prepare(list);
            // Others than those that were prepared may be asked for, too.
            for (const entity of [...list, (list[0] ?? 0) + 1].map((index) => index % numEntities)) {
              expect(many.last.of(entity)).toBe(last.of(entity));
              expect(many.window.of(entity)).toBe(window.of(entity));
            }
          }
        }
      }),
      { numRuns: 30 },
    );
  });
});

test('more entities than a kernel takes at once are prepared all the same', () => {
  const [dim, count] = [4, 9001];
  const table = Float32Array.from({ length: count * dim }, (_, i) => Math.sin(i));
  const query = Float32Array.of(1, -2, 3, 0.5);
  const cosines = new EntityCosines(table, dim);
  cosines.open(query, query, 1);
  cosines.prepare(Array.from({ length: count }, (_, entity) => entity));
  const alone = new CosineMemo(table, dim);
  alone.open(query, 1);
  const entities = Array.from({ length: count }, (_, entity) => entity);
  expect(entities.map((entity) => cosines.window.of(entity))).toEqual(entities.map((entity) => alone.of(entity)));
});
