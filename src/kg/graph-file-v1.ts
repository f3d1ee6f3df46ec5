/** Graph files of version 1: read still, written no more. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { WorkbenchError } from '../run/errors.js';
import { ofShape, parseJson } from '../run/read-json.js';
import { Graph } from './graph.js';

/** How such files begin. */
export const oldMagic = 'kgwgrph1';
const digestBytes = 32;
const bodyStart = oldMagic.length + digestBytes;

const count = z.int().min(0);
const headerSchema = z.strictObject({
  name: z.string(),
  entities: count,
  edges: count,
  /** Bytes of the JSON array [entityNames, relationNames] at the end. */
  nameBytes: count,
});

const namesSchema = z.tuple([z.array(z.string()), z.array(z.string())]);

/** What a digest that does not fit says of a file. */
export const cutOrAltered = 'one that was cut short or altered';

/** The error of a file that is no graph, or no longer one. */
export function damagedGraphFile(file: string, got: string, cause?: unknown): WorkbenchError {
  return new WorkbenchError('data', `expected a graph file, got ${got}, at ${file}`, {
    hint: 'Import the data set again.',
    cause,
  });
}

/**
 * Reads a file of version 1: magic (8 bytes), sha256 of all that follows (32), header length (uint32), header as JSON padded to
 * 4 bytes, int32 offsets, relations and tails, then the names as JSON; little-endian. Believes no length that the file states:
 * sizes must fill the file exactly before anything is allocated, and every id must be one of the names'. Files of up to 2 GiB.
 * Memory: twice the file and the names.
 * @throws WorkbenchError `data` for an unreadable, cut, altered or contradictory file
 */
export async function readOldGraphFile(file: string): Promise<Graph> {
  const damaged = (got: string, cause?: unknown) => damagedGraphFile(file, got, cause);
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw damaged(String(cause), cause);
  }
  const digest = createHash('sha256').update(bytes.subarray(bodyStart)).digest();
  if (!digest.equals(bytes.subarray(oldMagic.length, bodyStart))) throw damaged('one that was cut short or altered');

  if (bytes.length < bodyStart + 4) throw damaged('one that was cut short or altered');
  const headerStart = bodyStart + 4;
  const columnsStart = headerStart + bytes.readUInt32LE(bodyStart);
  const about = (what: string) => ({
    what: `a graph file with ${what}`,
    place: file,
    hint: 'Import the data set again.',
  });
  const json = <S extends z.ZodType>(from: number, to: number, schema: S, what: string) =>
    ofShape(parseJson(bytes.toString('utf8', from, to), about(what)), schema, about(what));
  const { name, entities, edges, nameBytes } = json(headerStart, columnsStart, headerSchema, 'its header');
  const namesStart = columnsStart + 4 * (entities + 1 + 2 * edges);
  if (namesStart + nameBytes !== bytes.length) throw damaged('one whose header does not fit its length');
  const [entityNames, relationNames] = json(namesStart, bytes.length, namesSchema, 'names');

  let at = columnsStart;
  const column = (length: number) => {
    const values = new Int32Array(length);
    new Uint8Array(values.buffer).set(bytes.subarray(at, at + length * 4));
    at += length * 4;
    return values;
  };
  const offsets = column(entities + 1);
  const relations = column(edges);
  const tails = column(edges);
  const isBelow = (limit: number) => (id: number) => id >= 0 && id < limit;
  const fits =
    entityNames.length === entities &&
    offsets[0] === 0 &&
    offsets[entities] === edges &&
    offsets.every((offset, head) => head === 0 || offset >= offsets[head - 1]!) &&
    relations.every(isBelow(relationNames.length)) &&
    tails.every(isBelow(entities));
  if (!fits) throw damaged('one whose edges do not fit its names');
  const heads = new Int32Array(edges);
  for (let head = 0; head < entities; head++) heads.fill(head, offsets[head], offsets[head + 1]);
  return new Graph(name, entityNames, relationNames, { heads, relations, tails });
}
