import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { NameIndex, normalizeName, withoutQualifier } from '../../../src/kg/name-index.js';
import { checkProperty } from '../../fixtures/property.js';
import { NameTable } from '../../../src/kg/name-table.js';

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

  test('of letters and digits alone is what it is next to punctuation, too', () => {
    const plain = fc.string({ unit: fc.constantFrom(...'aA tThHeE9') }).filter((text) => text.trim() !== '');
    checkProperty(
      fc.property(plain, (text) => {
        expect(normalizeName(text)).toBe(normalizeName(`${text}!`));
      }),
    );
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

test('accents are ignored where nothing else is found, in the question and in the graph', () => {
  const builder = new GraphBuilder();
  for (const name of ['Étude', 'Etude', 'Zoë', 'Ardú']) builder.add(name, 'is', 'name');
  const graph = builder.build('g');
  const index = new NameIndex(graph);
  const found = (name: string) => index.find(name).map((entity) => graph.entityNames[entity]);
  expect(['étude', 'etude', 'ètude', 'zoe', 'zöe', 'ardu', 'arde'].map(found)).toEqual([
    ['Étude'],
    ['Etude'],
    ['Étude', 'Etude'],
    ...[['Zoë'], ['Zoë'], ['Ardú'], []],
  ]);
});

describe('names by number', () => {
  const names = fc.array(fc.string({ unit: 'grapheme', maxLength: 6 }), { maxLength: 200 });

  /** Ids by first appearance, computed with a Map. */
  function expected(list: readonly string[]) {
    const ids = new Map<string, number>();
    for (const name of list) if (!ids.has(name)) ids.set(name, ids.size);
    return ids;
  }

  test('numbers names by first appearance and finds them again, as a Map does', () => {
    checkProperty(
      fc.property(names, fc.string({ unit: 'grapheme' }), (list, other) => {
        const table = new NameTable();
        const ids = expected(list);
        expect(list.map((name) => table.add(name))).toEqual(list.map((name) => ids.get(name)));
        expect([...table.names()]).toEqual([...ids.keys()]);
        expect(table.id(other)).toBe(ids.get(other) ?? -1);
        const copy = new NameTable(table.columns());
        for (const [name, id] of ids) expect([copy.id(name), copy.name(id)]).toEqual([id, name]);
        expect([copy.name(ids.size), copy.name(-1)]).toEqual([undefined, undefined]);
      }),
    );
  });

  test('adds many at once as one by one', () => {
    checkProperty(
      fc.property(fc.array(names, { maxLength: 4 }), (lists) => {
        const [many, single] = [new NameTable(), new NameTable()];
        for (const list of lists) {
          const bytes = Buffer.from(list.join(''));
          const bounds = new Int32Array(2 * list.length);
          let at = 0;
          list.forEach((name, i) => bounds.set([at, (at += Buffer.byteLength(name))], 2 * i));
          const ids = new Int32Array(list.length);
          many.addAll(bytes, bounds, list.length, ids);
          expect([...ids]).toEqual(list.map((name) => single.add(name)));
        }
      }),
    );
  });

  test('keeps long names whole, and thousands of names apart', () => {
    const long = 'r'.repeat(90);
    expect([...NameTable.of(['short', long, `${long}2`]).names()]).toEqual(['short', long, `${long}2`]);
    const table = new NameTable();
    const many = Array.from({ length: 20_000 }, (_, i) => `/m/${i.toString(36)}`);
    const ids = [...many.keys()];
    expect(many.map((name) => table.add(name))).toEqual(ids);
    expect(many.map((name) => table.id(name))).toEqual(ids);
    expect(table.id('/m/')).toBe(-1);
  });

  test('of equal names that were pushed, finds the last', () => {
    const table = NameTable.of(['a', 'b', 'a']);
    expect([table.size, table.id('a'), table.id('b'), table.name(0)]).toEqual([3, 2, 1, 'a']);
    table.push('b');
    expect(table.id('b')).toBe(3);
  });

  test('its columns are a copy that later names do not change', () => {
    const table = NameTable.of(['a']);
    const { bytes, ends } = table.columns();
    table.add('b');
    expect([Buffer.from(bytes).toString(), [...ends]]).toEqual(['a', [1]]);
    expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
  });
});
