/** Vectors on disk, addressed by what they depend on. A run that was killed finds everything up to its last commit. */
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { crc32 } from 'node:zlib';
import type { RootDatabase } from 'lmdb';
import { looksOf, sha256File } from '../run/files.js';
import { type Claim, claimsIn } from './claims.js';
import { openStore, requireSpace, storeError } from './lmdb-store.js';

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

/** A text with what its vector is kept under beside it. */
export interface ClaimedText {
  text: string;
  budget: string;
}

/** The vectors of one space. */
export interface VectorStore {
  /** Vectors that were not what had been written, by their checksum: they count as absent, and the first one is told. */
  readonly damaged: number;
  /** Copies the text's vector into `into` (float32 [dim]) and returns true, or returns false. @throws WorkbenchError `failure` */
  read(text: string, budget: string, into: Float32Array): boolean;
  /** Keeps a vector for the next commit. @param vector float32 [dim], copied */
  write(text: string, budget: string, vector: Float32Array): void;
  /** Tokens of the text's input, special ones included, if anybody wrote them: vectors of earlier versions came without. */
  readTokens(text: string, budget: string): number | undefined;
  /** Keeps how many tokens a text's input has, for the next commit. */
  writeTokens(text: string, budget: string, tokens: number): void;
  /**
   * Takes on texts to encode. What another encoder or process has taken on and not finished is not had: its vectors can be
   * read once they are there.
   * @throws WorkbenchError `failure`
   */
  claim(texts: readonly ClaimedText[]): Promise<{
    /** Which of the texts were had. */
    had: boolean[];
    /** Gives back those that were had; to be called after their vectors were committed. */
    release(): Promise<void>;
  }>;
  /** Commits what was written; durable when it resolves. @throws WorkbenchError `failure` when the disk is full */
  commit(): Promise<void>;
}

/** How much is kept, in all and by encoder; sizes in bytes. */
export interface CacheInfo {
  folder: string;
  entries: number;
  /** Bytes of the vectors, without the database's own overhead. */
  bytes: number;
  encoders: { name: string; id: string; mode: string; dim: number; entries: number; bytes: number }[];
}

/** Stores of vectors in one folder; close it after use. */
export interface EncoderCache {
  space(space: VectorSpace): VectorStore;
  /** sha256 (hex) of a file, remembered by its path and looks. @throws WorkbenchError `data` when it cannot be read */
  fileHash(path: string): Promise<string>;
  info(): CacheInfo;
  /** Deletes everything and closes. Returns how many vectors there were. */
  clear(): Promise<number>;
  close(): Promise<void>;
}

const prefixBytes = 8;
/** The pages of the database carry no checksum, so each vector ends with one: of its key and its numbers. */
const checksumBytes = 4;

/**
 * Opens the cache; two processes may use it at once.
 * @param cacheFolder the folder of all caches; the vectors lie in `vectors/` inside it
 * @throws WorkbenchError `native` or `failure`
 */
export async function openEncoderCache(cacheFolder: string): Promise<EncoderCache> {
  const folder = vectorsFolder(cacheFolder);
  const root = await openStore(folder);
  const { vectors, tokens, spaces, files, claimed } = await openTables(root, folder);
  const claims = claimsIn(root, claimed);
  // Closing a database whose commit failed would wait for ever.
  let failed = false;
  const commitError = (error: unknown) => {
    failed = true;
    return storeError(error, folder);
  };

  return {
    space(space) {
      const prefix = sha256(JSON.stringify([space.encoder, space.mode, space.dim])).subarray(0, prefixBytes);
      const waiting = new Map<string, Buffer>();
      const waitingTokens = new Map<string, Buffer>();
      // A vector and its tokens are asked for one after the other.
      let last: { text: string; budget: string; key: Buffer } | undefined;
      const keyOf = (text: string, budget: string) => {
        if (text !== last?.text || budget !== last.budget) {
          const key = Buffer.concat([prefix, sha256(`${budget}\0${text}`).subarray(0, 24)]);
          last = { text, budget, key };
        }
        return last.key;
      };
      let damaged = 0;
      return {
        get damaged() {
          return damaged;
        },
        read(text, budget, into) {
          const key = keyOf(text, budget);
          const bytes = guarded(folder, () => vectors.get(key));
          // Those of earlier versions have no checksum: they are made again.
          if (bytes?.length !== into.byteLength + checksumBytes) return false;
          const numbers = bytes.subarray(0, into.byteLength);
          if (bytes.readUInt32LE(into.byteLength) !== checksum(key, numbers)) {
            if (++damaged === 1) process.emitWarning(`a damaged vector is made again, at ${folder}`, 'KgwalkWarning');
            return false;
          }
          new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(numbers);
          return true;
        },
        write(text, budget, vector) {
          const key = keyOf(text, budget);
          const numbers = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
          const sum = Buffer.alloc(checksumBytes);
          sum.writeUInt32LE(checksum(key, numbers));
          waiting.set(key.toString('hex'), Buffer.concat([numbers, sum]));
        },
        readTokens(text, budget) {
          const key = keyOf(text, budget);
          const bytes = guarded(folder, () => tokens.get(key));
          if (bytes?.length !== 4 + checksumBytes) return undefined;
          return bytes.readUInt32LE(4) === checksum(key, bytes.subarray(0, 4)) ? bytes.readUInt32LE(0) : undefined;
        },
        writeTokens(text, budget, count) {
          const key = keyOf(text, budget);
          const bytes = Buffer.alloc(4 + checksumBytes);
          bytes.writeUInt32LE(count);
          bytes.writeUInt32LE(checksum(key, bytes.subarray(0, 4)), 4);
          waitingTokens.set(key.toString('hex'), bytes);
        },
        async claim(texts) {
          requireSpace(folder, 256 * texts.length);
          const keys = texts.map(({ text, budget }) => keyOf(text, budget));
          const had = await claims.take(keys).catch((error: unknown) => {
            throw commitError(error);
          });
          return {
            had,
            async release() {
              // What a full disk keeps is over when this process ends.
              if (!failed) await claims.release(keys.filter((_, i) => had[i])).catch(commitError);
            },
          };
        },
        async commit() {
          if (waiting.size + waitingTokens.size === 0) return;
          // Pages are written anew rather than in place, and several of them a key.
          requireSpace(folder, 4 * (waiting.size * (space.dim * 4 + 64) + waitingTokens.size * 64));
          // One turn of the event loop, so one transaction.
          const puts: Promise<boolean>[] = [spaces.put(prefix.toString('hex'), space)];
          for (const [key, bytes] of waiting) puts.push(vectors.put(Buffer.from(key, 'hex'), bytes));
          for (const [key, bytes] of waitingTokens) puts.push(tokens.put(Buffer.from(key, 'hex'), bytes));
          waiting.clear();
          waitingTokens.clear();
          try {
            await Promise.all(puts);
            await root.flushed;
          } catch (error) {
            throw commitError(error);
          }
        },
      };
    },
    async fileHash(path) {
      const key = sha256(JSON.stringify([resolve(path), looksOf(path)])).toString('hex');
      const known = files.get(key);
      if (known !== undefined) return known;
      const hash = await sha256File(path);
      requireSpace(folder, 0);
      await files.put(key, hash).catch((error: unknown) => {
        throw commitError(error);
      });
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
      await Promise.all([vectors, tokens, spaces, files, claimed].map((table) => table.clearAsync()));
      await root.close();
      // An emptied database keeps its size on disk, so the files go too.
      rmSync(folder, { recursive: true, force: true });
      return entries;
    },
    async close() {
      if (!failed) await root.close();
    },
  };
}

/** Whether there is anything to open; opening makes the folder. */
export function hasEncoderCache(cacheFolder: string): boolean {
  return existsSync(join(vectorsFolder(cacheFolder), 'data.mdb'));
}

function vectorsFolder(cacheFolder: string): string {
  return join(cacheFolder, 'vectors');
}

async function openTables(root: RootDatabase, folder: string) {
  try {
    return {
      vectors: root.openDB<Buffer, Buffer>({ name: 'vectors', encoding: 'binary', keyEncoding: 'binary' }),
      tokens: root.openDB<Buffer, Buffer>({ name: 'tokens', encoding: 'binary', keyEncoding: 'binary' }),
      spaces: root.openDB<VectorSpace, string>({ name: 'spaces', encoding: 'json' }),
      files: root.openDB<string, string>({ name: 'files', encoding: 'string' }),
      claimed: root.openDB<Claim, Buffer>({ name: 'claims', encoding: 'json', keyEncoding: 'binary' }),
    };
  } catch (error) {
    await root.close().catch(() => {});
    throw storeError(error, folder);
  }
}

function checksum(key: Buffer, numbers: Uint8Array): number {
  return crc32(numbers, crc32(key));
}

/** What a damaged database throws becomes one clear error. */
function guarded<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeError(error, folder);
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
