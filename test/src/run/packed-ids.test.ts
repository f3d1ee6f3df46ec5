import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { packIds, unpackIds } from '../../../src/run/provenance.js';
import { checkProperty } from '../../fixtures/property.js';

describe('packed ids', () => {
  test('are ranges of the number at the end, by what stands before it', () => {
    const ids = ['train-17#3', 'train-17#1', 'train-17#2', 'train-17#9', 'train-2#10', 'odd', 'odd0', 'a007'];
    expect(packIds(ids)).toEqual({ odd: ',0', 'train-17#': '1-3,9', 'train-2#': '10', a00: '7' });
  });

  test('come back, for any ids', () => {
    const id = fc.oneof(fc.string(), fc.constantFrom('__proto__', '__proto__1', '7', '', 'a1', 'a2', 'a03', 'a\n4'));
    checkProperty(
      fc.property(fc.uniqueArray(id), (ids) => {
        const packed = JSON.parse(JSON.stringify(packIds(ids))) as Record<string, string>;
        expect(unpackIds(packed, ids.length, 'here').sort()).toEqual([...ids].sort());
      }),
    );
  });

  test('that say more than their count are not followed', () => {
    for (const ranges of ['1-999999999999999', '1-4', '3-1,1', 'x', '1--2']) {
      expect(() => unpackIds({ a: ranges }, 3, 'here')).toThrow(/expected the ids of 3 samples, got .*, at here/);
    }
  });
});
