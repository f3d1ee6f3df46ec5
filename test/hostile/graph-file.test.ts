import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { readGraphFile, writeGraphFile } from '../../src/kg/graph-file.js';
import type { Graph } from '../../src/kg/graph.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { noise, spoiltBytes, spoiltJson } from '../fixtures/spoilt.js';

const { path, write } = hostileFile('graph-kb.bin');
const builder = new GraphBuilder();
builder.add('Heat', 'directed_by', 'Mann');
builder.add('Heat', 'year', '1995');
writeGraphFile(path, builder.build('kb', { addInverses: true }));
const whole = readFileSync(path);

/** The file with a digest that fits, so that what lies beneath it is read. */
function sealed(body: Uint8Array): Buffer {
  return Buffer.concat([whole.subarray(0, 8), createHash('sha256').update(body).digest(), body]);
}

/** Every id of a graph that was read is one of its names'. */
function isSound(result: unknown): void {
  const { numEntities, numRelations, numEdges, relations, tails, offsets } = result as Graph;
  expect(offsets).toHaveLength(numEntities + 1);
  expect(offsets.at(-1)).toBe(numEdges);
  expect([...tails].every((tail) => tail >= 0 && tail < numEntities)).toBe(true);
  expect([...relations].every((relation) => relation >= 0 && relation < numRelations)).toBe(true);
}

const body = whole.subarray(40);
const headerBytes = body.readUInt32LE(0);
const header: unknown = JSON.parse(body.toString('utf8', 4, 4 + headerBytes));
const names: unknown = JSON.parse(body.toString('utf8', body.lastIndexOf('[[')));
const rest = body.subarray(4 + headerBytes);
const columns = rest.subarray(0, rest.lastIndexOf('[['));

const length = (text: string) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(Buffer.byteLength(text));
  return bytes;
};
const withHeader = (text: string) => sealed(Buffer.concat([length(text), Buffer.from(text), rest]));
const withNames = (text: string) => {
  const own = JSON.stringify({ ...(header as object), nameBytes: Buffer.byteLength(text) });
  return sealed(Buffer.concat([length(own), Buffer.from(own), columns, Buffer.from(text)]));
};

test('graph files are graphs, or refused by name', async () => {
  const inputs = fc.oneof(
    noise,
    spoiltBytes(whole),
    { weight: 4, arbitrary: spoiltBytes(body).map(sealed) },
    { weight: 4, arbitrary: spoiltJson(header).map(withHeader) },
    { weight: 4, arbitrary: spoiltJson(names).map(withNames) },
  );
  await withstands(inputs, (bytes) => readGraphFile(write(bytes)), { place: path, check: isSound });
});

test.each([2 ** 31, 2 ** 53 - 1, 1e300])('a header that states %d edges allocates nothing', async (edges) => {
  const bytes = withHeader(JSON.stringify({ ...(header as object), edges }));
  await expect(readGraphFile(write(bytes))).rejects.toThrow(/header.* at .*graph-kb\.bin/);
});
