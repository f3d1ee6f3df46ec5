/**
 * Packs: vectors of the cache in files that can be copied, each of one encoder, named by the sha256 of its bytes and never changed. What
 * several machines encoded comes together so, while the cache itself, a database, stays on the disk of its machine.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FixedSizeBinary, FixedSizeList, Float32, Int32 } from 'apache-arrow';
import { z } from 'zod';
import { loadArrow } from '../run/arrow.js';
import { WorkbenchError } from '../run/errors.js';
import { makeFolder, readError, refuseSpecial, writeFileAtomic } from '../run/files.js';
import { printable } from '../run/printable.js';
import { turnTaker } from '../run/stop.js';
import { type EncoderCache, keyBytes, type KeptVector } from './encoder-cache.js';

/** Bytes of vectors, keys and tokens in a pack at most. */
const packBytes = 2 ** 26;
/** What else there may be in a file that is one. */
const aroundBytes = 2 ** 20;

const text = z.string().min(1).max(1000);
const aboutPack = z.strictObject({
  kgwalk: z.literal('vectors/1'),
  encoder: text,
  name: text,
  mode: text,
  dim: z.coerce.number().int().min(1).max(65536),
});

interface Pack {
  space: KeptVector['space'];
  rows: Omit<KeptVector, 'space'>[];
}

/**
 * Writes what the cache keeps and no pack of the folder has. Arrow IPC files: `key` (what text and budget it is of), `vector` (float32),
 * `tokens` (of the text's input, -1 where nobody counted).
 * @param folder made where it is missing
 * @param options.most bytes of a pack, about
 * @returns new packs and vectors
 * @throws WorkbenchError `failure` when the disk refuses; see `readPacks`
 */
export async function writePacks(
  cache: EncoderCache,
  folder: string,
  { signal, most = packBytes }: { signal?: AbortSignal | undefined; most?: number } = {},
): Promise<{ packs: number; vectors: number }> {
  makeFolder(folder);
  const there = new Set<string>();
  for await (const { space, rows } of packsIn(folder, signal)) {
    for (const { key } of rows) there.add(placeOf(space, key));
  }
  const written = { packs: 0, vectors: 0 };
  const turn = turnTaker(signal);
  let pack: Pack | undefined;
  const write = () => {
    if (!pack) return;
    const bytes = encoded(pack);
    writeFileAtomic(join(folder, nameOf(bytes)), bytes);
    written.packs++;
    written.vectors += pack.rows.length;
    pack = undefined;
  };
  for (const { space, ...row } of cache.kept()) {
    if (there.has(placeOf(space, row.key))) continue;
    const rows = Math.max(1, Math.floor(most / (4 * space.dim + keyBytes + 4)));
    if (pack && (pack.rows.length >= rows || spaceName(pack.space) !== spaceName(space))) {
      write();
      await turn();
    }
    (pack ??= { space, rows: [] }).rows.push(row);
  }
  write();
  return written;
}

/**
 * Puts vectors of packs into the cache. Those that it has stay as they are.
 * @returns packs that were read, vectors that are new, and vectors that were there
 * @throws WorkbenchError `data` for a file that is no pack or was altered, before anything of it is kept
 */
export async function readPacks(
  cache: EncoderCache,
  folder: string,
  signal?: AbortSignal,
): Promise<{ packs: number; vectors: number; known: number }> {
  const read = { packs: 0, vectors: 0, known: 0 };
  for await (const { space, rows } of packsIn(folder, signal)) {
    const store = cache.space(space);
    for (const row of rows) {
      if (store.keep(row)) read.vectors++;
      else read.known++;
    }
    await store.commit();
    read.packs++;
  }
  return read;
}

async function* packsIn(folder: string, signal?: AbortSignal): AsyncGenerator<Pack> {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(extension));
  } catch (error) {
    throw readError(error, folder, 'a folder of packs');
  }
  const turn = turnTaker(signal);
  for (const name of names.sort()) {
    await turn();
    yield decoded(join(folder, name), name);
  }
}

const extension = '.arrow';
const nameOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex') + extension;
const spaceName = ({ encoder, mode, dim }: KeptVector['space']) => JSON.stringify([encoder, mode, dim]);
const placeOf = (space: KeptVector['space'], key: Uint8Array) =>
  `${spaceName(space)} ${Buffer.from(key).toString('base64')}`;

function encoded({ space, rows }: Pack): Uint8Array {
  const arrow = loadArrow();
  const { length } = rows;
  const keys = new Uint8Array(length * keyBytes);
  const vectors = new Float32Array(length * space.dim);
  rows.forEach(({ key, vector }, i) => {
    keys.set(key, i * keyBytes);
    vectors.set(vector, i * space.dim);
  });
  const item = new arrow.Field('item', new arrow.Float32(), false);
  const columns = {
    key: arrow.makeData({ type: new arrow.FixedSizeBinary(keyBytes), length, nullCount: 0, data: keys }),
    vector: arrow.makeData({
      type: new arrow.FixedSizeList(space.dim, item),
      ...{ length, nullCount: 0 },
      child: arrow.makeData({ type: new arrow.Float32(), length: vectors.length, nullCount: 0, data: vectors }),
    }),
    tokens: arrow.makeData({
      type: new arrow.Int32(),
      ...{ length, nullCount: 0 },
      data: Int32Array.from(rows, ({ tokens = -1 }) => tokens),
    }),
  };
  const { encoder, name, mode, dim } = space;
  const about = { kgwalk: 'vectors/1', encoder, name, mode, dim: String(dim) };
  const fields = Object.entries(columns).map(([name, { type }]) => new arrow.Field(name, type, false));
  const schema = new arrow.Schema(fields, new Map(Object.entries(about)));
  const struct = arrow.makeData({
    type: new arrow.Struct(fields),
    length,
    nullCount: 0,
    children: Object.values(columns),
  });
  return arrow.tableToIPC(new arrow.Table(schema, [new arrow.RecordBatch(schema, struct)]), 'file');
}

function decoded(file: string, name: string): Pack {
  const what = 'a pack of vectors';
  refuseSpecial(file, what);
  const { size } = statSync(file);
  if (size > packBytes + aroundBytes) throw notOne(file, `a file of ${size} bytes`);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw readError(error, file, what);
  }
  if (nameOf(bytes) !== name) throw notOne(file, 'one that was altered or renamed');
  const arrow = loadArrow();
  try {
    const table = arrow.tableFromIPC<{ key: FixedSizeBinary; vector: FixedSizeList<Float32>; tokens: Int32 }>(bytes);
    const about = aboutPack.parse(Object.fromEntries(table.schema.metadata));
    const space = { encoder: about.encoder, name: printable(about.name, 200), mode: about.mode, dim: about.dim };
    const rows = Array.from({ length: table.numRows }, (_, i) => rowOf(table.get(i)!, space.dim));
    return { space, rows };
  } catch (error) {
    throw notOne(file, 'something else', error);
  }
}

function rowOf(
  { key, vector, tokens }: { key: unknown; vector: unknown; tokens: unknown },
  dim: number,
): Pack['rows'][number] {
  const values = (vector as { toArray(): unknown }).toArray();
  const isKey = key instanceof Uint8Array && key.length === keyBytes;
  if (!isKey || !(values instanceof Float32Array) || values.length !== dim || !Number.isInteger(tokens)) {
    throw new TypeError('other columns');
  }
  return { key, vector: values, ...((tokens as number) >= 0 && { tokens: tokens as number }) };
}

function notOne(file: string, got: string, cause?: unknown): WorkbenchError {
  return new WorkbenchError('data', `expected a pack of vectors, got ${got}, at ${file}`, {
    hint: 'Packs are written by `kgwalk cache pack`: copy it again, or leave it out.',
    cause,
  });
}
