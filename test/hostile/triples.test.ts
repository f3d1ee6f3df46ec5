import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { readTriples } from '../../src/kg/read-triples.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { hostileBytes, spoiltBytes } from '../fixtures/spoilt.js';

const tabs = 'Heat\tdirected_by\tMann\nMann\t~directed_by\tHeat\nHeat\tyear\t1995\n';
const bars = 'Heat|directed_by|Mann\nHeat|year|1995\n';

async function graphOf(file: string, separator?: string) {
  const builder = new GraphBuilder();
  const options = separator === undefined ? {} : { separator };
  await readTriples(file, options, (head, relation, tail) => builder.add(head, relation, tail));
  return builder.build('kb', { addInverses: true });
}

test('triples become a graph or one error with file and line', async () => {
  const { path, write } = hostileFile('triples.txt');
  const inputs = fc.record({ bytes: hostileBytes(tabs, bars), separator: fc.constantFrom(undefined, '|') });
  await withstands(inputs, ({ bytes, separator }) => graphOf(write(bytes), separator), { place: path });
});

test('archives of triples are unpacked, or refused by name', async () => {
  const { path, write } = hostileFile('triples.txt.gz');
  const inputs = fc.oneof(
    spoiltBytes(gzipSync(tabs)),
    hostileBytes(tabs).map((bytes) => gzipSync(bytes)),
  );
  await withstands(inputs, (bytes) => graphOf(write(bytes)), { place: path });
});

test('a line without an end is refused before it fills the memory', async () => {
  const { write } = hostileFile('bomb.txt.gz');
  const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20, 'x'));
  await expect(graphOf(write(bomb))).rejects.toThrow(/expected lines of at most .* characters, got a longer one.*:1/);
});
