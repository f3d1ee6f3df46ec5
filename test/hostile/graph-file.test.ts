import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { readGraphFile, writeGraphFile } from '../../src/kg/graph-file.js';
import type { Graph } from '../../src/kg/graph.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { sealedGraphFile, withLength } from '../fixtures/sealed-graph-file.js';
import { noise, spoiltBytes, spoiltJson } from '../fixtures/spoilt.js';

const { path, write } = hostileFile('graph-kb.bin');
const builder = new GraphBuilder();
builder.add('Heat', 'directed_by', 'Mann');
builder.add('Heat', 'year', '1995');
const graph = builder.build('kb', { addInverses: true });
writeGraphFile(path, graph);

/** Every id of a graph that was read is one of its names', and every row is in order. */
function isSound(result: unknown): void {
  const { numEntities, numRelations, numEdges, relations, tails, offsets } = result as Graph;
  expect(offsets).toHaveLength(numEntities + 1);
  expect(offsets.at(-1)).toBe(numEdges);
  expect([...tails].every((tail) => tail >= 0 && tail < numEntities)).toBe(true);
  expect([...relations].every((relation) => relation >= 0 && relation < numRelations)).toBe(true);
  const keys = (head: number) =>
    Array.from({ length: offsets[head + 1]! - offsets[head]! }, (_, i) => {
      const edge = offsets[head]! + i;
      return relations[edge]! * numEntities + tails[edge]!;
    });
  for (let head = 0; head < numEntities; head++) {
    expect(keys(head)).toEqual([...new Set(keys(head))].sort((a, b) => a - b));
  }
}

/** The parts of a file beneath its digest. */
function partsOf(file: Buffer) {
  const magic = file.toString('latin1', 0, 8);
  const body = file.subarray(40);
  const headerEnd = 4 + body.readUInt32LE(0);
  const header = JSON.parse(body.toString('utf8', 4, headerEnd)) as object;
  return { magic, body, header, rest: body.subarray(headerEnd) };
}

const file = readFileSync(path);

describe('graph files', () => {
  const { magic, body, header, rest } = partsOf(file);
  const whole = withLength(JSON.stringify(header));
  const withHeader = (text: string) => sealedGraphFile(magic, withLength(text), rest);

  test('are graphs, or refused by name', async () => {
    const inputs = fc.oneof(
      noise,
      spoiltBytes(file),
      { weight: 4, arbitrary: spoiltBytes(body).map((bytes) => sealedGraphFile(magic, bytes)) },
      { weight: 4, arbitrary: spoiltBytes(rest).map((bytes) => sealedGraphFile(magic, whole, bytes)) },
      { weight: 4, arbitrary: spoiltJson(header).map(withHeader) },
    );
    await withstands(inputs, (bytes) => readGraphFile(write(bytes)), { place: path, check: isSound });
  });

  test.each([2 ** 31, 2 ** 53 - 1, 1e300])('with a header that states %d edges allocate nothing', async (edges) => {
    const bytes = withHeader(JSON.stringify({ ...header, edges }));
    await expect(readGraphFile(write(bytes))).rejects.toThrow(/header.* at .*graph-kb\.bin/);
  });
});
