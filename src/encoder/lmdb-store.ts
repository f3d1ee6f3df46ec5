/** The one door to lmdb, loaded on first need, and the leases by which processes over one database share the work. */
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pid } from 'node:process';
import type { Database, RootDatabase } from 'lmdb';
import { WorkbenchError } from '../run/errors.js';
import { isRunning, writeError } from '../run/files.js';

/** Folders that this process has opened, with the file's number of the lock that it holds there. */
const opened = new Map<string, number>();

/**
 * Opens (or makes) a database folder that several processes may share; the map grows by itself.
 * @throws WorkbenchError `native` when lmdb is missing for this machine, `failure` when the folder cannot be used
 */
export async function openStore(folder: string): Promise<RootDatabase> {
  let library: typeof import('lmdb');
  try {
    library = await import('lmdb');
  } catch (error) {
    throw new WorkbenchError('native', 'expected lmdb with a binary for this machine, got none', {
      hint: 'Run `npm install` again with optional packages allowed, and see `kgwalk doctor`.',
      cause: error,
    });
  }
  try {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(join(folder, 'data.mdb'))) requireSpace(folder, 0);
    checkDatabase(folder);
    // An open that fails in lmdb 3.5.6 frees memory twice and may take the process down: what may fail is tried before. Once: to
    // close any descriptor of this file gives up the system's locks on it that the process holds, by which others see that its
    // readers live; they would take away the slots that it reads with.
    // A folder that was deleted meanwhile has another file, or none.
    const lock = join(folder, 'lock.mdb');
    const held = statSync(lock, { throwIfNoEntry: false })?.ino;
    if (held === undefined || opened.get(folder) !== held) closeSync(openSync(lock, 'a+'));
    opened.set(folder, statSync(lock).ino);
    return library.open({ path: folder, maxDbs: 5, noSubdir: false });
  } catch (error) {
    throw storeError(error, folder);
  }
}

/**
 * A file that is no database, or that lost its end, would take the process down, error handling or not: it is mapped into memory.
 * @source mdb.c, `MDB_meta`: two pages, each with its magic number, page size and the number of the last page in use
 */
function checkDatabase(folder: string): void {
  const path = join(folder, 'data.mdb');
  if (!statSync(path, { throwIfNoEntry: false })?.size) return;
  const start = Buffer.alloc(8192);
  const descriptor = openSync(path, 'r');
  try {
    const length = readSync(descriptor, start, 0, start.length, 0);
    if (length < start.length || start.readUInt32LE(24) !== 0xbeefc0de) throw new Error('another file in its place');
    const pageSize = start.readUInt32LE(48);
    // Read after what it is held against: another process may be writing, which puts pages before the numbers that count them.
    const { size } = fstatSync(descriptor);
    for (const page of [0, pageSize]) {
      const last = page + 152 <= length ? Number(start.readBigUInt64LE(page + 144)) : 0;
      if ((last + 1) * pageSize > size) throw new Error('a file that was cut short');
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * To be called before a commit: one that fails rejects promises that nobody can catch, and closing then waits for ever.
 * @param bytes that will be written; a mebibyte must be left beside them, as a database grows in pages
 * @throws WorkbenchError `failure` where there is less space
 */
export function requireSpace(folder: string, bytes: number): void {
  if (isFull(folder, bytes)) throw writeError(Object.assign(new Error('no space left'), { code: 'ENOSPC' }), folder);
}

/** Turns what the database says into the error a user sees. @param folder the database's */
export function storeError(error: unknown, folder: string): unknown {
  // The database reports the reason of a failed commit as a second, rejected promise, and a full disk as an I/O error.
  const { commitError } = error as { commitError?: Promise<unknown> };
  commitError?.catch(() => {});
  const known = writeError(isFull(folder) ? Object.assign(error as object, { code: 'ENOSPC' }) : error, folder);
  if (known instanceof WorkbenchError) return known;
  const message = error instanceof Error ? error.message : String(error);
  return new WorkbenchError('failure', `expected a usable vector cache, got: ${message}, at ${folder}`, {
    hint: 'Delete that folder (it is only a cache), or give another place with KGWALK_HOME.',
    cause: error,
    fatal: true,
  });
}

function isFull(folder: string, bytes = 0): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < bytes + 2 ** 20;
  } catch {
    return false;
  }
}

/** Who works on a key, and until when at most: milliseconds since the epoch. */
export interface Lease {
  process: number;
  /** When the process started: a container gives its processes the same numbers again. */
  started: number;
  until: number;
}

/** After this long a lease is over, whoever holds it: its number may belong to another process by now. */
const lifetime = 15 * 60_000;

/** @param table in the database `root`, for leases alone */
export function leasesIn(root: RootDatabase, table: Database<Lease, Buffer>) {
  const own = { process: pid, started: Math.round(performance.timeOrigin) };
  const holds = ({ process, started, until }: Lease) =>
    until > Date.now() && (process === pid ? started === own.started : isRunning(process));

  return {
    /** Takes what no living process holds, all in one transaction. Returns which of the keys were had. */
    take: (keys: readonly Buffer[]): Promise<boolean[]> =>
      root.transaction(() =>
        keys.map((key) => {
          const found = table.get(key);
          if (found !== undefined && holds(found)) return false;
          void table.put(key, { ...own, until: Date.now() + lifetime });
          return true;
        }),
      ),
    async release(keys: readonly Buffer[]): Promise<void> {
      await root.transaction(() => {
        // Kept and over, not removed: removing empties pages that a commit then counts and does not write, and a file that
        // ends before the last page counted looks like one that lost its end.
        for (const key of keys) void table.put(key, { ...own, until: 0 });
      });
    },
  };
}
