import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { NameIndex, normalizeName, withoutQualifier } from '../../../src/kg/name-index.js';
import { checkProperty } from '../../fixtures/property.js';

describe('a name without what stands in brackets behind it', () => {
  test.each([
    ['Heat (film)', 'Heat'],
    ['Heat (film) ', 'Heat'],
    ['Heat', 'Heat'],
    ['f(x) (y)', 'f(x)'],
    ['a (b (c)', 'a'],
    ['a)', 'a)'],
    ['(a)', ''],
    ['Heat  ', 'Heat  '],
  ])('%j is %j', (name, expected) => expect(withoutQualifier(name)).toBe(expected));

  test('is what an expression finds that tries every bracket', () => {
    const pieces = fc.array(fc.constantFrom('(', ')', ' ', 'a', '\n', '\u00a0'), { maxLength: 14 });
    checkProperty(
      fc.property(pieces, (parts) => {
        const name = parts.join('');
        expect(withoutQualifier(name)).toBe(name.replace(/\s*\([^)]*\)\s*$/, ''));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a normalised name', () => {
  test.each([
    ['The  Heron', 'heron'],
    ['A', 'a'],
    ["Ocean's Eleven", 'oceans eleven'],
    ['frederica_of_mecklenburg-strelitz', 'frederica of mecklenburg strelitz'],
    ['8 1/2', '8 1/2'],
    ['born 2012-05-01.', 'born 2012-05-01'],
    ['1,000.5', '1,000.5'],
    ['Ｆｕｌｌ Width', 'full width'],
    ['互连网络', '互连网络'],
    ['$', '$'],
    ['  ', ''],
  ])('%j is %j', (name, expected) => {
    expect(normalizeName(name)).toBe(expected);
  });

  test('is its own normal form, save for what lies behind an article', () => {
    checkProperty(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const once = normalizeName(`x ${text}`);
        expect(normalizeName(once)).toBe(once);
      }),
    );
  });
});

test('an index finds all homonyms and aliases, and nothing for unknown names', () => {
  const builder = new GraphBuilder();
  builder.add('The Heron', 'built_by', 'Ivo');
  builder.add('heron', 'eats', '$');
  const graph = builder.build('birds');
  const [ship, ivo, bird, dollar] = ['The Heron', 'Ivo', 'heron', '$'].map((name) => graph.entityId(name)) as [
    number,
    number,
    number,
    number,
  ];
  const index = new NameIndex(graph, new Map([[ivo, ['Ivo Marr of Skarn', 'ivo']]]));
  expect(index.lookup('HERON')).toEqual([ship, bird]);
  expect(index.lookup('ivo marr of skarn')).toEqual([ivo]);
  expect(index.lookup('$')).toEqual([dollar]);
  expect(index.lookup('unknown')).toEqual([]);
  expect(index.maxWords).toBe(4);
});
