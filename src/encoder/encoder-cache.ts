/** Vectors on disk, addressed by what they depend on. A run that was killed finds everything up to its last commit. */
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { crc32 } from 'node:zlib';
import type { Database, RootDatabase } from 'lmdb';
import { fileStamp, sha256File } from '../run/files.js';
import { type Lease, leasesIn, openStore, requireSpace, type Store, storeError } from '../store/lmdb-store.js';

/** Everything a vector depends on, except its text. */
interface VectorSpace {
  encoder: string;
  name: string;
  /** Other factors of the vectors, such as the device. */
  mode: string;
  dim: number;
}

type KeptText = { text: string; budget: string };

/** Number and size of cached vectors, in all and by encoder; bytes of the vectors, without the database's overhead. */
export interface CacheInfo {
  folder: string;
  entries: number;
  bytes: number;
  encoders: { name: string; id: string; mode: string; dim: number; entries: number; bytes: number }[];
}

/** Stores of vectors in one folder; close it after use. */
export type EncoderCache = Awaited<ReturnType<typeof openEncoderCache>>;

const prefixBytes = 8;
/** Bytes of a key, of text and budget, after the encoder's prefix. */
const keyBytes = 24;
/** Database pages have no checksum, so each value ends with one, of its key and its bytes. */
const checksumBytes = 4;

/**
 * Opens the cache; two processes may use it at once.
 * @param cacheFolder the folder of all caches; vectors are in its subfolder `vectors/`
 * @throws WorkbenchError `native` or `failure`, as everything that reads or writes the cache
 */
export async function openEncoderCache(cacheFolder: string) {
  const folder = vectorsFolder(cacheFolder);
  const opened = await openStore(folder, openTables);
  const { root, tables } = opened;
  const { vectors, spaces, files, leased } = tables;
  const leases = leasesIn(root, leased);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= opened.close());
  const failCommit = (error: unknown): never => {
    opened.failed = true;
    throw storeError(error, folder);
  };

  return {
    space: (space: VectorSpace) => spaceStore({ folder, opened, leases, failCommit }, space),
    /** sha256 (hex) of a file, cached by its path and stat. @throws WorkbenchError `data` when it cannot be read */
    async fileHash(path: string): Promise<string> {
      const key = sha256(JSON.stringify([resolve(path), fileStamp(path)])).toString('hex');
      const known = files.get(key);
      if (known !== undefined) return known;
      const hash = await sha256File(path);
      requireSpace(folder, 0);
      await files.put(key, hash).catch(failCommit);
      return hash;
    },
    /** Text stored by `remember` under a name. */
    recall: (name: string): string | undefined => files.get(sha256(`\0${name}`).toString('hex')),
    async remember(name: string, text: string): Promise<void> {
      requireSpace(folder, text.length);
      await files.put(sha256(`\0${name}`).toString('hex'), text).catch(failCommit);
    },
    info(): CacheInfo {
      const encoders = [...spaces.getRange()].map(({ key, value }) => {
        const entries = vectors.getKeysCount(rangeOf(key));
        const { name, encoder: id, mode, dim } = value;
        return { name, id, mode, dim, entries, bytes: entries * dim * 4 };
      });
      const sum = (pick: (one: (typeof encoders)[number]) => number) => encoders.reduce((s, one) => s + pick(one), 0);
      return { folder, entries: sum((one) => one.entries), bytes: sum((one) => one.bytes), encoders };
    },
    /** Deletes everything and closes. Returns how many vectors there were. */
    async clear(): Promise<number> {
      const entries = vectors.getKeysCount();
      await Promise.all(Object.values(tables).map((table) => table.clearAsync()));
      await close();
      // An emptied database keeps its size on disk, so the files go too.
      rmSync(folder, { recursive: true, force: true });
      return entries;
    },
    close,
  };
}

interface OpenCache {
  folder: string;
  opened: Store<ReturnType<typeof openTables>>;
  leases: ReturnType<typeof leasesIn>;
  failCommit: (error: unknown) => never;
}

/** Stored bytes of a key, without their checksum; undefined if absent or of another length. */
function readSealed(
  folder: string,
  table: Database<Buffer, Buffer>,
  key: Buffer,
  length: number,
): Buffer | 'damaged' | undefined {
  let sealed: Buffer | undefined;
  try {
    sealed = table.get(key);
  } catch (error) {
    throw storeError(error, folder);
  }
  // Vectors of earlier versions have no checksum and are computed again.
  if (sealed?.length !== length + checksumBytes) return undefined;
  const bytes = sealed.subarray(0, length);
  return sealed.readUInt32LE(length) === crc32(bytes, crc32(key)) ? bytes : 'damaged';
}

function spaceStore({ folder, opened, leases, failCommit }: OpenCache, space: VectorSpace) {
  const { root, tables } = opened;
  const { vectors, tokens, spaces } = tables;
  const read = (table: typeof vectors, key: Buffer, length: number) => readSealed(folder, table, key, length);
  const prefix = sha256(JSON.stringify([space.encoder, space.mode, space.dim])).subarray(0, prefixBytes);
  const waiting = { vectors: new Map<string, Buffer>(), tokens: new Map<string, Buffer>() };
  const keyOf = (text: string, budget: string) =>
    Buffer.concat([prefix, sha256(`${budget}\0${text}`).subarray(0, keyBytes)]);
  const put = (puts: Map<string, Buffer>, key: Buffer, bytes: Uint8Array) => {
    const sum = Buffer.alloc(checksumBytes);
    sum.writeUInt32LE(crc32(bytes, crc32(key)));
    puts.set(key.toString('hex'), Buffer.concat([bytes, sum]));
  };
  let damaged = 0;
  return {
    /** Vectors with a wrong checksum; they count as absent, and the first one emits a warning. */
    get damaged() {
      return damaged;
    },
    /**
     * Copies the text's vector into `into` (float32 [dim]).
     * @returns tokens of the text's input, special ones included; undefined without a vector, or without its tokens
     */
    read(text: string, budget: string, into: Float32Array): number | undefined {
      const key = keyOf(text, budget);
      const bytes = read(vectors, key, into.byteLength);
      if (bytes === 'damaged' && ++damaged === 1) {
        process.emitWarning(`a damaged vector is computed again, at ${folder}`, 'KgwalkWarning');
      }
      if (bytes === 'damaged' || bytes === undefined) return undefined;
      new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes);
      const counted = read(tokens, key, 4);
      return counted === 'damaged' ? undefined : counted?.readUInt32LE(0);
    },
    /** Keeps a copy of a vector (float32 [dim]) and the tokens of its text's input for the next commit. */
    write(text: string, budget: string, vector: Float32Array, count: number): void {
      const key = keyOf(text, budget);
      put(waiting.vectors, key, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(count);
      put(waiting.tokens, key, bytes);
    },
    /** Leases texts for encoding; `had` is false for those leased elsewhere. Call `release` after the vectors are committed. */
    async lease(texts: readonly KeptText[]): Promise<{ had: boolean[]; release(): Promise<void> }> {
      requireSpace(folder, 256 * texts.length);
      const keys = texts.map(({ text, budget }) => keyOf(text, budget));
      const had = await leases.take(keys).catch(failCommit);
      return {
        had,
        async release() {
          if (opened.failed) return;
          // On a full disk leases end with this process.
          await leases
            .release(keys.filter((_, i) => had[i]))
            .catch(failCommit)
            .catch(() => {});
        },
      };
    },
    /** Commits what was written; durable when it resolves. @throws WorkbenchError `failure` when the disk is full */
    async commit(): Promise<void> {
      if (waiting.vectors.size === 0) return;
      // Pages are copied on write, several per key.
      requireSpace(folder, 4 * waiting.vectors.size * (space.dim * 4 + 128));
      // One turn of the event loop, so one transaction.
      const puts = [spaces.put(prefix.toString('hex'), space)];
      for (const table of ['vectors', 'tokens'] as const) {
        for (const [key, bytes] of waiting[table]) puts.push(tables[table].put(Buffer.from(key, 'hex'), bytes));
        waiting[table].clear();
      }
      await Promise.all(puts)
        .then(() => root.flushed)
        .catch(failCommit);
    },
  };
}

/** True when a cache exists; opening creates the folder. */
export function hasEncoderCache(cacheFolder: string): boolean {
  return existsSync(join(vectorsFolder(cacheFolder), 'data.mdb'));
}

function rangeOf(prefix: string) {
  const start = Buffer.concat([Buffer.from(prefix, 'hex'), Buffer.alloc(keyBytes)]);
  return { start, end: Buffer.concat([Buffer.from(prefix, 'hex'), Buffer.alloc(keyBytes + 1, 0xff)]) };
}

const vectorsFolder = (cacheFolder: string): string => join(cacheFolder, 'vectors');

const openTables = (root: RootDatabase) => ({
  vectors: root.openDB<Buffer, Buffer>({ name: 'vectors', encoding: 'binary', keyEncoding: 'binary' }),
  tokens: root.openDB<Buffer, Buffer>({ name: 'tokens', encoding: 'binary', keyEncoding: 'binary' }),
  spaces: root.openDB<VectorSpace, string>({ name: 'spaces', encoding: 'json' }),
  files: root.openDB<string, string>({ name: 'files', encoding: 'string' }),
  leased: root.openDB<Lease, Buffer>({ name: 'claims', encoding: 'json', keyEncoding: 'binary' }),
});

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
