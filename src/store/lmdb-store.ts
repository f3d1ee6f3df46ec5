/** The one door to lmdb, loaded on first need, and the leases by which processes over one database share the work. */
import { closeSync, statfsSync } from 'node:fs';
import { pid } from 'node:process';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Database, RootDatabase } from 'lmdb';
import { WorkbenchError } from '../run/errors.js';
import { isRunning, writeError } from '../run/files.js';
import { completeFiles, type DatabaseFiles, lockId, makeFiles, openFiles, throughLinks } from './lmdb-files.js';

/** A database that this process has open, once for all who use it; `close` when done. */
export interface Store<Tables> {
  root: RootDatabase;
  tables: Tables;
  /** Set when a commit failed: closing would wait for ever, so it stays open. */
  failed: boolean;
  close(): Promise<void>;
}

/** By the identity of the lock file: a folder that was deleted and created again is another database. */
const opened = new Map<string, { store: Store<unknown>; users: number; closing?: Promise<void> }>();

/** Retries, and the pause between them in milliseconds, for a folder that another process is deleting or creating. */
const tries = 100;
const pause = 5;

/**
 * Opens (or makes) a database folder that several processes may share. Who has it open when it is deleted keeps the unlinked files.
 * @param openTables the same at every call
 * @throws WorkbenchError `native` when lmdb is missing for this machine, `failure` when the folder cannot be used
 */
export async function openStore<Tables>(folder: string, openTables: (root: RootDatabase) => Tables) {
  const library = await loadLibrary();
  const openFrom = (files: DatabaseFiles) =>
    register(files.id, files.lock, openTables, () =>
      throughLinks(files, folder, (path) => library.open({ path, maxDbs: 5, noSubdir: false })),
    );
  try {
    for (let tried = 1; ; tried++) {
      const known = opened.get(lockId(folder) ?? '');
      if (known?.closing !== undefined) await known.closing;
      else if (known !== undefined) {
        known.users++;
        return known.store as Store<Tables>;
      } else {
        let files = openFiles(folder);
        if (files === 'none') {
          requireSpace(folder, 0);
          files = makeFiles(folder) ?? files;
        }
        if (typeof files === 'object') return await openFrom(files);
        if (tried > tries) completeFiles(folder);
        if (tried > 2 * tries) throw new Error('files that cannot be made, or go away again and again');
        // One of two files: another process is deleting them.
        if (files === 'one' || tried > 1) await setTimeout(pause);
      }
    }
  } catch (error) {
    throw storeError(error, folder);
  }
}

async function loadLibrary(): Promise<typeof import('lmdb')> {
  try {
    return await import('lmdb');
  } catch (error) {
    throw new WorkbenchError('native', 'expected lmdb with a binary for this machine, got none', {
      hint: 'Run `npm install` again with optional packages allowed, and see `kgwalk doctor`.',
      cause: error,
    });
  }
}

/**
 * @param lock descriptor of the lock file, open as long as the database: closing any descriptor of it gives up the
 *   process’s system locks, and others would take away its reader slots
 */
async function register<Tables>(
  id: string,
  lock: number,
  openTables: (root: RootDatabase) => Tables,
  open: () => RootDatabase,
): Promise<Store<Tables>> {
  let root: RootDatabase | undefined;
  try {
    root = open();
    const store = { root, tables: openTables(root), failed: false, close };
    const entry: { store: typeof store; users: number; closing?: Promise<void> } = { store, users: 1 };
    opened.set(id, entry);
    async function close(): Promise<void> {
      if (--entry.users > 0) return;
      if (store.failed) return void opened.delete(id);
      entry.closing = store.root.close().finally(() => {
        opened.delete(id);
        closeSync(lock);
      });
      await entry.closing;
    }
    return store;
  } catch (error) {
    await root?.close().catch(() => {});
    closeSync(lock);
    throw error;
  }
}

/**
 * Call before a commit: a failing one rejects promises that cannot be caught, and closing then waits forever.
 * @param bytes that will be written; a mebibyte more must be free
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
  return new WorkbenchError('failure', `expected a usable cache, got: ${message}, at ${folder}`, {
    hint: 'Delete that folder (it is only a cache), or give another place with KGWALK_HOME.',
    cause: error,
    fatal: true,
  });
}

function isFull(folder: string, bytes = 0): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < bytes + 2 ** 20;
  } catch (error) {
    // A folder that is not there yet is made where its parent is.
    const parent = dirname(folder);
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && parent !== folder && isFull(parent, bytes);
  }
}

/** Process that works on a key, and the time the lease expires, milliseconds since the epoch. */
export interface Lease {
  process: number;
  /** When the process started: a container gives its processes the same numbers again. */
  started: number;
  until: number;
}

/** Leases expire after this long: the process id may have been reused. */
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
        for (const key of keys) void table.remove(key);
      });
    },
  };
}
