import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inventedWord, permuted } from '../../../datasets/demo/names.js';
import { entityTypes, typeSizes } from '../../../datasets/demo/schema.js';
import { nameWords } from '../../../datasets/demo/words.js';
import { namesOf } from '../../../datasets/demo/world.js';

describe('invented words', () => {
  test('every number has a unique word, long ones too', () => {
    for (const manner of Object.values(nameWords().manners)) {
      const words = Array.from({ length: 20_000 }, (_, number) => inventedWord(manner, number));
      expect(new Set(words).size).toBe(words.length);
      expect(words.filter((word) => !/^[A-Z][a-z]+$/.test(word))).toEqual([]);
    }
  });

  test('a permutation hits every number once, for any size and shift', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), fc.nat(10_000), (size, shift) => {
        const hit = new Set(Array.from({ length: size }, (_, index) => permuted(index, size, shift)));
        expect(hit.size).toBe(size);
        expect(Math.max(...hit)).toBe(size - 1);
      }),
      { numRuns: 50 },
    );
  });

  test('beyond what a number holds exactly, products are taken with big integers', () => {
    const size = 2 ** 40;
    const factor = BigInt(permuted(1, size));
    expect(permuted(size - 3, size)).toBe(Number((BigInt(size - 3) * factor) % BigInt(size)));
  });
});

test.each([
  [1, 200],
  [9, 3000],
  [2, 100_000],
])('no two entities of a world share a name (seed %d, %d entities)', (seed, entities) => {
  const sizes = typeSizes(entities);
  const nameOf = namesOf({ seed, entities });
  const names = entityTypes.flatMap((type) => Array.from({ length: sizes[type] }, (_, index) => nameOf(type, index)));
  expect(new Set(names).size).toBe(names.length);
});
