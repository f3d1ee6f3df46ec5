/** Vectors on disk, addressed by what they depend on. A run that was killed finds everything up to its last commit. */
import { createHash } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sha256File } from '../run/files.js';
import { openStore, storeError } from './lmdb-store.js';

/** Everything a vector depends on beside its text. */
export interface VectorSpace {
  /** The encoder's id. */
  encoder: string;
  /** What people call it. */
  name: string;
  /** What else tells vectors apart, such as the device. */
  mode: string;
  dim: number;
}

/** The vectors of one space. */
export interface VectorStore {
  /** Copies the text's vector into `into` (float32 [dim]) and returns true, or returns false. */
  read(text: string, budget: string, into: Float32Array): boolean;
  /** Keeps a vector for the next commit. @param vector float32 [dim], copied */
  write(text: string, budget: string, vector: Float32Array): void;
  /** Commits what was written; durable when it resolves. @throws WorkbenchError `failure` when the disk is full */
  commit(): Promise<void>;
}

export interface CacheInfo {
  folder: string;
  entries: number;
  /** Bytes of the vectors, without the database's own overhead. */
  bytes: number;
  encoders: { name: string; id: string; mode: string; dim: number; entries: number; bytes: number }[];
}

export interface EncoderCache {
  space(space: VectorSpace): VectorStore;
  /** sha256 (hex) of a file, remembered by path, size and time of change. */
  fileHash(path: string): Promise<string>;
  info(): CacheInfo;
  /** Deletes everything and closes. Returns how many vectors there were. */
  clear(): Promise<number>;
  close(): Promise<void>;
}

const prefixBytes = 8;

/**
 * Opens the cache; two processes may use it at once.
 * @param cacheFolder the folder of all caches; the vectors lie in `vectors/` inside it
 * @throws WorkbenchError `native` or `failure`
 */
export async function openEncoderCache(cacheFolder: string): Promise<EncoderCache> {
  const folder = vectorsFolder(cacheFolder);
  const root = await openStore(folder);
  const vectors = root.openDB<Buffer, Buffer>({ name: 'vectors', encoding: 'binary', keyEncoding: 'binary' });
  const spaces = root.openDB<VectorSpace, string>({ name: 'spaces', encoding: 'json' });
  const files = root.openDB<string, string>({ name: 'files', encoding: 'string' });

  return {
    space(space) {
      const prefix = sha256(JSON.stringify([space.encoder, space.mode, space.dim])).subarray(0, prefixBytes);
      const waiting = new Map<string, Buffer>();
      const keyOf = (text: string, budget: string) =>
        Buffer.concat([prefix, sha256(`${budget}\0${text}`).subarray(0, 24)]);
      return {
        read(text, budget, into) {
          const bytes = vectors.get(keyOf(text, budget));
          if (bytes?.length !== into.byteLength) return false;
          new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes);
          return true;
        },
        write(text, budget, vector) {
          const key = keyOf(text, budget).toString('hex');
          waiting.set(key, Buffer.from(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)));
        },
        async commit() {
          if (waiting.size === 0) return;
          // One turn of the event loop, so one transaction.
          const puts: Promise<boolean>[] = [spaces.put(prefix.toString('hex'), space)];
          for (const [key, bytes] of waiting) puts.push(vectors.put(Buffer.from(key, 'hex'), bytes));
          waiting.clear();
          try {
            await Promise.all(puts);
            await root.flushed;
          } catch (error) {
            throw storeError(error, folder);
          }
        },
      };
    },
    async fileHash(path) {
      const { size, mtimeMs } = statSync(path);
      const key = sha256(JSON.stringify([resolve(path), size, mtimeMs])).toString('hex');
      const known = files.get(key);
      if (known !== undefined) return known;
      const hash = await sha256File(path);
      await files.put(key, hash);
      return hash;
    },
    info() {
      const encoders = [...spaces.getRange()].map(({ key, value }) => {
        const start = Buffer.concat([Buffer.from(key, 'hex'), Buffer.alloc(24)]);
        const end = Buffer.concat([Buffer.from(key, 'hex'), Buffer.alloc(25, 0xff)]);
        const entries = vectors.getKeysCount({ start, end });
        const { name, encoder: id, mode, dim } = value;
        return { name, id, mode, dim, entries, bytes: entries * dim * 4 };
      });
      const sum = (pick: (one: (typeof encoders)[number]) => number) => encoders.reduce((s, one) => s + pick(one), 0);
      return { folder, entries: sum((one) => one.entries), bytes: sum((one) => one.bytes), encoders };
    },
    async clear() {
      const entries = vectors.getKeysCount();
      await Promise.all([vectors.clearAsync(), spaces.clearAsync(), files.clearAsync()]);
      await root.close();
      // An emptied database keeps its size on disk, so the files go too.
      rmSync(folder, { recursive: true, force: true });
      return entries;
    },
    close: () => root.close(),
  };
}

/** Whether there is anything to open; opening makes the folder. */
export function hasEncoderCache(cacheFolder: string): boolean {
  return existsSync(join(vectorsFolder(cacheFolder), 'data.mdb'));
}

function vectorsFolder(cacheFolder: string): string {
  return join(cacheFolder, 'vectors');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
