import { cpuUsage } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { localName } from '../../datasets/custom/read-rdf.js';
import { readCustomGraph } from '../../datasets/custom/import.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { hostileBytes } from '../fixtures/spoilt.js';

const label = 'http://www.w3.org/2000/01/rdf-schema#label';
const statements = [
  '<http://x.org/Heat> <http://x.org/directed_by> <http://x.org/Mann> .',
  `<http://x.org/Heat> <${label}> "Heat"@en .`,
  `<http://x.org/Heat> <${label}> "Heat\\u00e9 \\"1995\\""@fr-CA .`,
  '_:b0 <http://x.org/year> "1995"^^<http://www.w3.org/2001/XMLSchema#gYear> . # a comment',
  '<http://x.org/a%20b> <http://x.org/p> "x\\U0001F701" .',
];

const turtle = `@prefix x: <http://x.org/> .
x:Heat x:by x:Mann , [ x:born 1943 ] ; x:label "Heat"@en , '''a
text''' . # a comment
(x:a x:b) x:p true .
`;

describe('RDF', () => {
  test.each([true, false])('statements become a graph, or each broken line is named (labels: %s)', async (labels) => {
    const { path, write } = hostileFile('triples.nt');
    const inputs = hostileBytes(`${statements.join('\n')}\n`);
    await withstands(inputs, (bytes) => readCustomGraph(write(bytes), labels), { place: path });
  });

  test('Turtle becomes a graph, or its first error is named', async () => {
    const { path, write } = hostileFile('triples.ttl');
    await withstands(hostileBytes(turtle), (bytes) => readCustomGraph(write(bytes), true), { place: path });
  });

  test('delimited triples of the user become a graph, or each broken line is named', async () => {
    const { path, write } = hostileFile('triples.tsv');
    const inputs = fc.oneof(hostileBytes('Heat\tby\tMann\nMann\t~by\tHeat\n'), hostileBytes('a|b|c\nd|b|a\n'));
    await withstands(inputs, (bytes) => readCustomGraph(write(bytes), true), { place: path });
  });

  // Lines are no longer than these; an expression that goes back, or takes the square of the length, would not end.
  test.each([
    ['a literal', `<a> <b> "${'x'.repeat(2 ** 20)}" .`],
    ['a literal of escapes', `<a> <b> "${'\\u0041'.repeat(2 ** 17)}" .`],
    ['a literal that does not end', `<a> <b> "${'\\"'.repeat(2 ** 19)}`],
    ['an address that does not end', `<${'a'.repeat(2 ** 20)}`],
    ['dots of a blank node', `_:${'a.'.repeat(2 ** 19)}`],
    ['spaces', `<a> <b>${' '.repeat(2 ** 20)}`],
    ['languages', `<a> <b> "c"@a${'-b'.repeat(2 ** 19)}`],
  ])('%s as long as a line may be is parsed in linear time', async (_name, line) => {
    for (const name of ['triples.nt', 'triples.ttl']) {
      const { write } = hostileFile(name);
      const begun = cpuUsage();
      await readCustomGraph(write(Buffer.from(line)), true).catch(() => {});
      expect(cpuUsage(begun).user).toBeLessThan(5_000_000);
    }
  });

  test('the name of an address with many slashes and a long end is found in passing', () => {
    const end = 'y'.repeat(2 ** 18);
    expect(localName(`${'x/'.repeat(2 ** 18)}${end}`)).toBe(end);
    expect(localName(`http://x.org/${'x'.repeat(2 ** 18)}/`)).toHaveLength(2 ** 18 + 14);
  });
});
