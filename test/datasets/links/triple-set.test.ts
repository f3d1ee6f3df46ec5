import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TripleSet } from '../../../datasets/links/read-triples.js';

const triples = fc.array(fc.tuple(fc.nat(6), fc.nat(3), fc.nat(6)), { maxLength: 300 });

describe('TripleSet', () => {
  test('keeps each triple once, in order, through every growth', () => {
    fc.assert(
      fc.property(triples, (added) => {
        const set = new TripleSet();
        const keys = new Set<string>();
        for (const triple of added) {
          expect(set.add(...triple)).toBe(!keys.has(triple.join()));
          keys.add(triple.join());
        }
        const { heads, relations, tails } = set.columns();
        expect(Array.from(heads, (head, i) => [head, relations[i], tails[i]].join())).toEqual([...keys]);
        for (let head = 0; head <= 6; head++) expect(set.has(head, 2, 3)).toBe(keys.has(`${head},2,3`));
      }),
    );
  });
});
