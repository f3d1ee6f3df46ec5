import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { distinctNames, localName, parseStatement } from '../../../datasets/custom/read-n-triples.js';

const iri = (value: string) => ({ kind: 'iri', value });
const literal = (value: string, language = '') => ({ kind: 'literal', value, language });

describe('parseStatement', () => {
  test.each([
    ['<http://a/s> <http://a/p> <http://a/o> .', [iri('http://a/s'), iri('http://a/p'), iri('http://a/o')]],
    ['<s><p>"o".# a comment', [iri('s'), iri('p'), literal('o')]],
    ['\t_:b1 <p> _:x.y .', [{ kind: 'blank', value: 'b1' }, iri('p'), { kind: 'blank', value: 'x.y' }]],
    [
      '<s> <p> "Größe\\t\\"x\\" \\u00e9 \\U0001F600"@de-AT .',
      [iri('s'), iri('p'), literal('Größe\t"x" é 😀', 'de-at')],
    ],
    ['<s> <p> "1999"^^<http://www.w3.org/2001/XMLSchema#gYear> .', [iri('s'), iri('p'), literal('1999')]],
    ['<http://a/\\u00e9> <p> "" .', [iri('http://a/é'), iri('p'), literal('')]],
  ])('%s', (line, expected) => {
    expect(parseStatement(line)).toEqual(expected);
  });

  test.each(['', '   ', '# only a comment', '\t#'])('%j is no statement', (line) => {
    expect(parseStatement(line)).toBeUndefined();
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
  ])('%j is broken', (line) => {
    expect(typeof parseStatement(line)).toBe('string');
  });

  test('never throws, whatever the line', () => {
    const piece = fc.oneof(
      fc.constantFrom('<s>', '<p>', '"', '\\', '\\u00', '.', ' ', '_:', '@', '^^', '#'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        parseStatement(pieces.join(''));
      }),
      { numRuns: 500 },
    );
  });
});

describe('names of terms', () => {
  test('are the last part of an IRI, decoded', () => {
    expect(localName('http://a/b#c')).toBe('c');
    expect(localName('http://a/S%C3%B8r')).toBe('Sør');
    expect(localName('http://a/%zz')).toBe('%zz');
    expect(localName('http://a/')).toBe('http://a/');
  });

  test('are told apart: by the IRI where two want one, by the key where even that is taken', () => {
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
      '"Paris': 'Paris',
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
