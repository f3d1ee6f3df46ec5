import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { knownAnswers, withInverses } from '../../../src/embedding/known-answers.js';
import { checkProperty } from '../../fixtures/property.js';
import { columnsOf, idsOf } from '../../fixtures/triple-columns.js';

const triple = fc.tuple(fc.nat(6), fc.nat(3), fc.nat(6));
const part = fc.array(triple, { maxLength: 30 });
const unique = (ids: number[]) => [...new Set(ids)].sort((a, b) => a - b);

describe('known answers', () => {
  test('are every answer of every part, ascending and once, and none for unknown queries', () => {
    checkProperty(
      fc.property(part, part, (one, two) => {
        const known = knownAnswers([columnsOf(one), columnsOf(two)]);
        const all = [...one, ...two];
        const pairs = Array.from({ length: 9 * 5 }, (_, i) => [i % 9, Math.floor(i / 9)] as const);
        const found = pairs.map(([entity, relation]) =>
          [known.tailsOf(entity, relation), known.headsOf(relation, entity)].map((ids) => [...ids]),
        );
        const expected = pairs.map(([entity, relation]) => [
          unique(all.filter(([h, r]) => h === entity && r === relation).map(([, , t]) => t)),
          unique(all.filter(([, r, t]) => t === entity && r === relation).map(([h]) => h)),
        ]);
        expect(found).toEqual(expected);
      }),
    );
  });

  test('of what is asked are the same, the others left out', () => {
    checkProperty(
      fc.property(part, part, (asked, others) => {
        const all = knownAnswers([columnsOf(asked), columnsOf(others)]);
        const some = knownAnswers([columnsOf(others)], columnsOf(asked));
        for (const [head, relation, tail] of asked) {
          expect(some.tailsOf(head, relation)).toEqual(all.tailsOf(head, relation));
          expect(some.headsOf(relation, tail)).toEqual(all.headsOf(relation, tail));
        }
        for (const [head, relation] of others) {
          if (!asked.some(([h, r]) => h === head && r === relation)) {
            expect(some.tailsOf(head, relation)).toHaveLength(0);
          }
        }
      }),
    );
  });
});

test('an inverse relation asks for the other side', () => {
  const known = knownAnswers([columnsOf(idsOf('0 0 1, 2 0 1, 1 1 3, 4 1 3'))]);
  const both = withInverses(known, 2);
  for (const relation of [0, 1]) {
    for (let entity = 0; entity < 5; entity++) {
      expect(both.tailsOf(entity, relation)).toEqual(known.tailsOf(entity, relation));
      expect(both.headsOf(relation, entity)).toEqual(known.headsOf(relation, entity));
      expect(both.tailsOf(entity, relation + 2)).toEqual(known.headsOf(relation, entity));
      expect(both.headsOf(relation + 2, entity)).toEqual(known.tailsOf(entity, relation));
    }
  }
});
