/** A graph on disk, in a form that loads in milliseconds. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { writeFileAtomic } from '../run/files.js';
import { WorkbenchError } from '../run/errors.js';
import { Graph } from './graph.js';

const magic = 'kgwgrph1';
const digestBytes = 32;
const bodyStart = magic.length + digestBytes;

interface Header {
  name: string;
  entities: number;
  edges: number;
  /** Bytes of the JSON array [entityNames, relationNames] at the end. */
  nameBytes: number;
}

/**
 * Writes `graph`: magic (8 bytes), sha256 of all that follows (32), header length (uint32), header as JSON padded to 4 bytes,
 * int32 offsets, relations and tails, then the names as JSON. Little-endian; equal graphs give equal bytes.
 */
export function writeGraphFile(file: string, graph: Graph): void {
  const names = Buffer.from(JSON.stringify([graph.entityNames, graph.relationNames]));
  const header: Header = {
    name: graph.name,
    entities: graph.numEntities,
    edges: graph.numEdges,
    nameBytes: names.length,
  };
  const text = JSON.stringify(header);
  const headerBytes = Buffer.from(text + ' '.repeat(-Buffer.byteLength(text) & 3));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(headerBytes.length);
  const columns = [graph.offsets, graph.relations, graph.tails].map(
    (column) => new Uint8Array(column.buffer, column.byteOffset, column.byteLength),
  );
  const body = [length, headerBytes, ...columns, names];
  const digest = createHash('sha256');
  for (const part of body) digest.update(part);
  writeFileAtomic(file, [Buffer.from(magic), digest.digest(), ...body]);
}

/**
 * Reads what `writeGraphFile` wrote.
 * @throws WorkbenchError `data` for a missing, foreign, cut or altered file
 */
export async function readGraphFile(file: string): Promise<Graph> {
  const damaged = (got: string, cause?: unknown) =>
    new WorkbenchError('data', `expected a graph file, got ${got}, at ${file}`, {
      hint: 'Import the data set again.',
      cause,
    });
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw damaged((cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'none' : String(cause), cause);
  }
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw damaged('another kind of file');
  const digest = createHash('sha256').update(bytes.subarray(bodyStart)).digest();
  if (!digest.equals(bytes.subarray(magic.length, bodyStart))) throw damaged('one that was cut short or altered');

  let at = bodyStart + 4;
  const headerEnd = at + bytes.readUInt32LE(bodyStart);
  const header = JSON.parse(bytes.toString('utf8', at, headerEnd)) as Header;
  at = headerEnd;
  const column = (length: number) => {
    const values = new Int32Array(length);
    new Uint8Array(values.buffer).set(bytes.subarray(at, at + length * 4));
    at += length * 4;
    return values;
  };
  const offsets = column(header.entities + 1);
  const relations = column(header.edges);
  const tails = column(header.edges);
  const [entityNames, relationNames] = JSON.parse(bytes.toString('utf8', at, at + header.nameBytes)) as [
    string[],
    string[],
  ];
  const heads = new Int32Array(header.edges);
  for (let head = 0; head < header.entities; head++) heads.fill(head, offsets[head], offsets[head + 1]);
  return new Graph(header.name, entityNames, relationNames, { heads, relations, tails });
}
