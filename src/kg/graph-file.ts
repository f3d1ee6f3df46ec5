/**
 * Graph files: the in-memory layout on disk, so that reading needs no parsing. Little-endian: magic, sha256 of the rest, header
 * length (uint32), header (JSON padded to 4 bytes); by entity where its edges begin (int32, one more than entities), tails
 * (int32), ends of entity and relation names (uint32), relations (uint16; int32 beyond 65,536), names as UTF-8.
 */
import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { z } from 'zod';
import { WorkbenchError } from '../run/errors.js';
import { writeFileAtomic } from '../run/files.js';
import { ofShape, parseJson } from '../run/read-json.js';
import { type AdjacencyRows, int32Column, relationColumn, shortRelations } from './adjacency.js';
import { Graph } from './graph.js';
import { type NameColumns, NameTable } from './name-table.js';

const magic = 'kgwgrph2';
const hint = 'Import the data set again.';
const digestBytes = 32;
/** Start of the digest and of the bytes it covers: */
const digestStart = magic.length;
const bodyStart = digestStart + digestBytes;
/** The body starts with the header length. */
const headerStart = bodyStart + 4;
const cutOrAltered = 'one that was cut short or altered';
const longestHeader = 2 ** 20;
/** Bytes per read, hash or write call: no call takes 2 GiB. */
const pieceBytes = 2 ** 24;

const count = z
  .int()
  .min(0)
  .max(2 ** 32);
const headerSchema = z.strictObject({
  name: z.string(),
  /** `Graph.hash`. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  entities: count,
  relations: count,
  edges: count,
  /** UTF-8 bytes of all names. */
  entityBytes: count,
  relationBytes: count,
});
type Header = z.output<typeof headerSchema>;

/**
 * Writes `graph`: magic (8 bytes), sha256 of the rest (32), header length (uint32), header as JSON padded to 4 bytes; then int32 offsets
 * [entities + 1], int32 tails [edges], uint32 ends of entity names and of relation names, relations [edges] (uint16, or int32 above
 * 65,536), UTF-8 of entity names and of relation names. Little-endian; equal graphs give equal bytes.
 */
export function writeGraphFile(file: string, graph: Graph): void {
  const { offsets, tails, relations, entities } = graph.shared();
  const relationNames = NameTable.of(graph.relationNames).columns();
  const header: Header = {
    name: graph.name,
    hash: graph.hash,
    entities: graph.numEntities,
    relations: graph.numRelations,
    edges: graph.numEdges,
    entityBytes: entities.bytes.length,
    relationBytes: relationNames.bytes.length,
  };
  const text = JSON.stringify(header);
  const headerBytes = Buffer.from(text + ' '.repeat(-Buffer.byteLength(text) & 3));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(headerBytes.length);
  const columns = inOrder({ offsets, tails, relations, entities, relationNames });
  const body = [length, headerBytes, ...columns].flatMap((column) => [...piecesOf(bytesOf(column))]);
  const digest = createHash('sha256');
  for (const part of body) digest.update(part);
  writeFileAtomic(file, [Buffer.from(magic), digest.digest(), ...body]);
}

/**
 * Reads a file of `writeGraphFile`. No stated length is trusted: sizes must match the file size before anything is allocated, ids must be
 * in range, rows sorted. Memory: the graph's own.
 * @throws WorkbenchError `data` for a missing, foreign, truncated, altered or inconsistent file
 */
export async function readGraphFile(file: string): Promise<Graph> {
  const handle = await opened(file);
  try {
    const { size } = await handle.stat();
    const begin = Buffer.alloc(Math.min(size, headerStart));
    await fill(handle, begin, 0);
    const kind = begin.toString('latin1', 0, magic.length);
    if (kind !== magic) throw damagedGraphFile(file, 'another kind of file');
    if (size < headerStart) throw damagedGraphFile(file, cutOrAltered);
    return await readBody(handle, { file, size, begin });
  } finally {
    await handle.close();
  }
}

async function readBody(
  handle: FileHandle,
  { file, size, begin }: { file: string; size: number; begin: Buffer },
): Promise<Graph> {
  const headerLength = begin.readUInt32LE(bodyStart);
  if (headerLength > Math.min(longestHeader, size - headerStart)) throw damagedGraphFile(file, cutOrAltered);
  const headerBytes = Buffer.alloc(headerLength);
  await fill(handle, headerBytes, headerStart);
  const about = { what: 'a graph file with its header', place: file, hint };
  const header = ofShape(parseJson(headerBytes.toString('utf8'), about), headerSchema, about);
  const lengths = byteLengths(header);
  if (lengths.reduce((sum, length) => sum + length, headerStart + headerLength) !== size) {
    throw damagedGraphFile(file, `${cutOrAltered}: its header does not fit its length`);
  }
  const columns = emptyColumns(header);
  const digest = createHash('sha256').update(begin.subarray(bodyStart)).update(headerBytes);
  let at = headerStart + headerLength;
  for (const column of inOrder(columns)) {
    const bytes = bytesOf(column);
    await fill(handle, bytes, at, digest);
    at += bytes.length;
  }
  if (!digest.digest().equals(begin.subarray(digestStart, bodyStart))) throw damagedGraphFile(file, cutOrAltered);
  const problem = graphColumnProblem(columns);
  if (problem !== undefined) throw damagedGraphFile(file, problem);
  const { name, hash } = header;
  const relationNames = [...new NameTable(columns.relationNames).names()];
  return Graph.fromShared({ ...columns, name, hash, relationNames, madeFrom: [] });
}

function damagedGraphFile(file: string, got: string, cause?: unknown): WorkbenchError {
  return new WorkbenchError('data', `expected a graph file, got ${got}, at ${file}`, { hint, cause });
}

interface GraphColumns extends AdjacencyRows {
  entities: NameColumns;
  relationNames: NameColumns;
}

/** Empty shared-memory columns of the sizes in the header. */
function emptyColumns({ entities, relations, edges, entityBytes, relationBytes }: Header): GraphColumns {
  const names = (count: number, bytes: number) => ({
    bytes: new Uint8Array(new SharedArrayBuffer(bytes)),
    ends: new Uint32Array(new SharedArrayBuffer(4 * count)),
  });
  return {
    offsets: int32Column(entities + 1),
    tails: int32Column(edges),
    relations: relationColumn(relations, edges),
    entities: names(entities, entityBytes),
    relationNames: names(relations, relationBytes),
  };
}

function inOrder({ offsets, tails, relations, entities, relationNames }: GraphColumns): NumberColumn[] {
  return [offsets, tails, entities.ends, relationNames.ends, relations, entities.bytes, relationNames.bytes];
}

/** Byte lengths of the columns of `inOrder`. */
function byteLengths({ entities, relations, edges, entityBytes, relationBytes }: Header): number[] {
  const width = relations <= shortRelations ? 2 : 4;
  return [4 * (entities + 1), 4 * edges, 4 * entities, 4 * relations, width * edges, entityBytes, relationBytes];
}

type NumberColumn = Uint8Array | Uint16Array | Int32Array | Uint32Array;

const bytesOf = (column: NumberColumn) => new Uint8Array(column.buffer, column.byteOffset, column.byteLength);

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** Fills `into` from byte `position` on. The next chunk is read while the previous one is hashed. */
async function fill(handle: FileHandle, into: Uint8Array, position: number, digest?: Hash): Promise<void> {
  let before: Uint8Array | undefined;
  let at = position;
  for (const piece of piecesOf(into)) {
    const reading = readPiece(handle, piece, at);
    if (before) digest?.update(before);
    await reading;
    before = piece;
    at += piece.length;
  }
  if (before) digest?.update(before);
}

/** Bytes missing from a file that shrank stay zero; the digest detects that. */
async function readPiece(handle: FileHandle, piece: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < piece.length;) {
    const { bytesRead } = await handle.read(piece, done, piece.length - done, position + done);
    if (bytesRead === 0) return;
    done += bytesRead;
  }
}

async function opened(file: string): Promise<FileHandle> {
  try {
    const handle = await open(file);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (cause) {
    throw damagedGraphFile(file, (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'none' : String(cause), cause);
  }
  throw damagedGraphFile(file, 'no file');
}

/** Error text (the "got" part) if offsets, ids, order or names are inconsistent, else undefined. Linear. */
function graphColumnProblem({ entities, relationNames, ...rows }: GraphColumns): string | undefined {
  if (!areNames(entities) || !areNames(relationNames)) return 'one whose names are no UTF-8';
  return areRows(rows, relationNames.ends.length) ? undefined : 'one whose edges do not fit its names';
}

function areRows({ offsets, relations, tails }: AdjacencyRows, numRelations: number): boolean {
  const numEntities = offsets.length - 1;
  if (offsets[0] !== 0 || offsets[numEntities] !== tails.length) return false;
  for (let head = 0; head < numEntities; head++) if (offsets[head]! > offsets[head + 1]!) return false;
  for (let head = 0, edge = 0; head < numEntities; head++) {
    for (let [relation, tail] = [-1, -1]; edge < offsets[head + 1]!; edge++) {
      const isLater = relations[edge]! > relation || (relations[edge] === relation && tails[edge]! > tail);
      [relation, tail] = [relations[edge]!, tails[edge]!];
      if (!isLater || relation >= numRelations || tail < 0 || tail >= numEntities) return false;
    }
  }
  return true;
}

/** True if every name starts at a character boundary; the whole being UTF-8, each name then is, too. */
function areNames({ bytes, ends }: NameColumns): boolean {
  if ((ends.at(-1) ?? 0) !== bytes.length || !isUtf8(bytes)) return false;
  let start = 0;
  for (const end of ends) {
    if (end < start || (start < bytes.length && (bytes[start]! & 0xc0) === 0x80)) return false;
    start = end;
  }
  return true;
}
