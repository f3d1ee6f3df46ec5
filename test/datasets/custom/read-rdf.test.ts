import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { distinctNames, localName, readRdf } from '../../../datasets/custom/read-rdf.js';
import type { Graph } from '../../../src/kg/graph.js';
import { folderWith } from '../../fixtures/tiny-release.js';

async function read(name: string, text: string | Uint8Array) {
  const { graph } = await readRdf(join(folderWith({ [name]: text }), name), false);
  return triplesOf(graph);
}

const triplesOf = ({ entityNames, relationNames, relations, tails, offsets }: Graph) =>
  entityNames.flatMap((head, entity) =>
    Array.from({ length: offsets[entity + 1]! - offsets[entity]! }, (_, i) => {
      const edge = offsets[entity]! + i;
      return [head, relationNames[relations[edge]!]!, entityNames[tails[edge]!]!];
    }).filter(([, relation]) => !relation!.startsWith('~')),
  );

describe('a line of N-Triples', () => {
  test.each([
    ['<http://a/s> <http://a/p> <http://a/o> .', 's', 'o'],
    ['<s><p>"o".# a comment', 's', 'o'],
    ['\t_:b1 <p> _:x.y .', '_:b1', '_:x.y'],
    ['<s> <p> "Größe\\t\\"x\\" \\u00e9 \\U0001F600"@de-AT .', 's', 'Größe\t"x" é 😀'],
    ['<s> <p> "1999"^^<http://www.w3.org/2001/XMLSchema#gYear> .', 's', '1999'],
    ['<http://a/\\u00e9> <p> "x" .', 'é', 'x'],
    ['<s> <p> "o"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .', 's', 'o'],
  ])('%s', async (line, head, tail) => {
    expect(await read('a.nt', `# a comment\n\n  \t#\n${line}`)).toEqual([[head, 'p', tail]]);
  });

  test.each([
    '<s> <p> <o>',
    '<s> <p> .',
    '<s> "p" <o> .',
    '"s" <p> <o> .',
    '<s> <p> "o .',
    '<s x> <p> <o> .',
    '<s> <p> "a\\q" .',
    '<s> <p> "\\UFFFFFFFF" .',
    '<s> <p> "\\ud800" .',
    '<s> <p> <o> . <s>',
    's p o .',
    '@prefix x: <http://x/> .',
    '<< <s> <p> <o> >> <q> <r> .',
    '<s> <p> <<( <s> <p> <o> )>> .',
  ])('%j is broken', async (line) => {
    await expect(read('a.nt', `<s> <p> <o> .\n${line}\n${line}`)).rejects.toThrow(
      /^2 broken lines:\n {2}\S+a\.nt:2: expected <subject>[^]*a\.nt:3: expected <subject>/,
    );
  });
});

describe('Turtle', () => {
  const turtle = `# prefixes, lists of objects, blank nodes, collections, texts of several lines
@prefix f: <http://f/> .
PREFIX x: <http://x/>
@base <http://base/> .
f:heat f:director f:mann ; a x:Film ;
  f:year 1995 , "1995"@en ;
  f:plot """Cops
and robbers""" .
<part> f:cast ( f:pacino ) .
f:mann f:born [ f:in x:Chicago ] .
_:n f:of _:n .`;
  const expected = [
    ['heat', 'director', 'mann'],
    ['heat', 'type', 'Film'],
    ['heat', 'year', '1995'],
    ['heat', 'plot', 'Cops\nand robbers'],
    ['part', 'cast', '_:[1]'],
    ['_:[1]', 'first', 'pacino'],
    ['_:[1]', 'rest', 'nil'],
    ['mann', 'born', '_:[2]'],
    ['_:[2]', 'in', 'Chicago'],
    ['_:n', 'of', '_:n'],
  ];

  test('is read as the same graph each time, packed or with other line ends', async () => {
    expect((await read('a.ttl', turtle)).sort()).toEqual(expected.sort());
    expect((await read('a.ttl.gz', gzipSync(turtle.replaceAll('\n', '\r\n')))).sort()).toEqual(expected.sort());
  });

  test.each([
    [`${turtle}\n\nf:heat f:director .`, 13, 'Expected entity but got .'],
    ['<a> <b> <c> .\n<a> <b> "c\n" .', 2, 'Unexpected'],
    ['<a> <b> f:c .', 1, 'Undefined prefix'],
    ['<a> <b> <c> .\n<a>\n', 2, 'Expected'],
    ['<a> <b>\n<<( <s> <p> <o> )>> .', 2, 'a statement about a statement'],
    ['<a> <b> """', 1, 'Unexpected'],
  ])('an error names file and line: %j', async (text, line, reason) => {
    const error = await read('a.ttl', text).catch((caught: unknown) => caught as Error);
    expect((error as Error).message).toMatch(new RegExp(`a\\.ttl:${line}$`));
    expect((error as Error).message).toContain(reason);
  });

  test('what it keeps in memory is bounded: a text over many lines, brackets in brackets', async () => {
    const comments = '# a comment of some length\n'.repeat(50_000);
    expect(await read('a.ttl', `${comments}<a> <b> <c> .`)).toEqual([['a', 'b', 'c']]);
    await expect(read('a.ttl', `<a> <b> """${comments}`)).rejects.toThrow(
      /more than 1048576 characters, at .*ttl:\d+$/,
    );
    await expect(read('a.ttl', `<a> <b> ${'[ <c> '.repeat(2000)}`)).rejects.toThrow(/more than 1000 open brackets/);
  });
});

describe('names of terms', () => {
  test('are the last part of an IRI, decoded', () => {
    expect(localName('http://a/b#c')).toBe('c');
    expect(localName('http://a/S%C3%B8r')).toBe('Sør');
    expect(localName('http://a/%zz')).toBe('%zz');
    expect(localName('http://a/')).toBe('http://a/');
  });

  test('are unique: with the last part of the IRI if two want one, else the key; texts come after entities', () => {
    const terms = [
      { key: '<http://a/Q1>', wanted: 'Paris' },
      { key: '<http://a/Q2>', wanted: 'Paris' },
      { key: '<http://b/Q2>', wanted: 'Paris' },
      { key: '"Paris', wanted: 'Paris' },
      { key: '<http://a/Q3>', wanted: 'Lyon' },
    ];
    expect(Object.fromEntries(distinctNames(terms))).toEqual({
      '<http://a/Q1>': 'Paris (Q1)',
      '<http://a/Q2>': 'Paris (Q2)',
      '<http://b/Q2>': '<http://b/Q2>',
      '"Paris': 'Paris (text)',
      '<http://a/Q3>': 'Lyon',
    });
  });

  test('never collide', () => {
    const key = fc.oneof(
      fc.constantFrom('a', 'b').map((value) => `"${value}`),
      fc.tuple(fc.constantFrom('x/', 'y/'), fc.constantFrom('a', 'b')).map(([host, part]) => `<${host}${part}>`),
      fc.constantFrom('"a (a)', '"<x/a>', '_:a'),
    );
    const terms = fc
      .uniqueArray(key)
      .chain((keys) =>
        fc.tuple(
          ...keys.map((one) =>
            fc
              .constantFrom('a', 'b')
              .map((label) => ({ key: one, wanted: one.startsWith('"') ? one.slice(1) : label })),
          ),
        ),
      );
    fc.assert(
      fc.property(terms, (found) => {
        const names = distinctNames(found);
        expect(new Set(names.values()).size).toBe(found.length);
      }),
      { numRuns: 300 },
    );
  });
});
