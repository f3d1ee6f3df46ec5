/**
 * The two files of a database in a folder that may be deleted at any moment. lmdb 3.5.6 ends the process when it finds
 * its lock file without data, and data with another’s lock file would be misread. So a pair is made at once, never
 * mixed, opened here, and passed to lmdb by links.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { platform } from 'node:process';
import { makeFolder, temporaryFolder, temporaryName } from '../run/files.js';

const lockName = 'lock.mdb';
const dataName = 'data.mdb';

/** Descriptors of a pair, and the identity of its lock. */
export interface DatabaseFiles {
  id: string;
  lock: number;
  data: number;
}

/** Identity of a folder's lock file, unique while any process has it open; undefined when there is none. */
export function lockId(folder: string): string | undefined {
  const stats = statSync(join(folder, lockName), { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}

/** Opens the pair in a folder, or says how many of the two are there: `one` while others are deleting them. */
export function openFiles(folder: string): DatabaseFiles | 'one' | 'none' {
  const lock = openExisting(join(folder, lockName));
  let data: number | undefined;
  try {
    data = openExisting(join(folder, dataName));
    if (lock !== undefined && data !== undefined) {
      checkDatabase(data);
      const { dev, ino } = fstatSync(lock, { bigint: true });
      return { id: `${dev} ${ino}`, lock, data };
    }
  } catch (error) {
    for (const descriptor of [lock, data]) if (descriptor !== undefined) closeSync(descriptor);
    throw error;
  }
  const found = lock ?? data;
  if (found === undefined) return 'none';
  closeSync(found);
  return 'one';
}

function openExisting(path: string): number | undefined {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

let made = 0;

/**
 * Creates a folder with an empty pair in one step and opens it. Undefined when another process was faster, or it was
 * deleted meanwhile.
 */
export function makeFiles(folder: string): DatabaseFiles | undefined {
  const parent = dirname(folder);
  const temporary = temporaryName(folder, ++made);
  let files: DatabaseFiles | 'one' | 'none' = 'none';
  try {
    makeFolder(parent);
    // A process of the same number may have been killed here.
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary);
    for (const name of [lockName, dataName]) createEmpty(join(temporary, name));
    // Some systems move no folder in which a file is open; there it is opened where it comes to lie.
    if (platform === 'linux') files = openFiles(temporary);
    removeEmpty(folder);
    renameSync(temporary, folder);
    return typeof files === 'object' ? files : undefined;
  } catch (error) {
    if (typeof files === 'object') for (const descriptor of [files.lock, files.data]) closeSync(descriptor);
    rmSync(temporary, { recursive: true, force: true });
    if (!['ENOENT', 'EEXIST', 'ENOTEMPTY'].includes(codeOf(error)!)) throw error;
    return undefined;
  }
}

/** Not every system renames onto an empty folder. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    return;
  }
}

/**
 * Completes a folder after a deletion that was stopped, or with a copy of the data alone. A lock without data goes
 * first: who has it open holds data that were deleted.
 */
export function completeFiles(folder: string): void {
  try {
    makeFolder(folder);
    if (!existsSync(join(folder, dataName))) rmSync(join(folder, lockName), { force: true });
    for (const name of [lockName, dataName]) {
      if (!existsSync(join(folder, name))) createEmpty(join(folder, name));
    }
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error)!)) throw error;
  }
}

function createEmpty(path: string): void {
  closeSync(openSync(path, 'wx'));
}

/**
 * Calls `open` with a folder of links to the pair, safe from deletion; without such links on this system, the folder
 * itself. Closes the descriptor of the data.
 */
export function throughLinks<Opened>(files: DatabaseFiles, folder: string, open: (folder: string) => Opened): Opened {
  const links = linksTo(files);
  try {
    return open(links ?? folder);
  } finally {
    if (links !== undefined) rmSync(dirname(links), { recursive: true, force: true });
    closeSync(files.data);
  }
}

/**
 * A folder of two links in a temporary folder, always of the same name: lmdb keeps some 100 kB for every name that it
 * ever opened.
 */
function linksTo({ lock, data }: DatabaseFiles): string | undefined {
  if (platform !== 'linux' || !existsSync('/proc/self/fd')) return undefined;
  let folder: string | undefined;
  try {
    folder = temporaryFolder('open');
    const links = join(folder, 'database');
    mkdirSync(links);
    symlinkSync(`/proc/self/fd/${lock}`, join(links, lockName));
    symlinkSync(`/proc/self/fd/${data}`, join(links, dataName));
    return links;
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

/**
 * A damaged file would end the process: it is mapped into memory.
 * @source mdb.c, `MDB_meta`: two pages, each with its magic number, page size and the number of the last page in use
 */
function checkDatabase(descriptor: number): void {
  if (fstatSync(descriptor).size === 0) return;
  const start = Buffer.alloc(8192);
  const length = readSync(descriptor, start, 0, start.length, 0);
  if (length < start.length || start.readUInt32LE(24) !== 0xbeefc0de) throw new Error('another file in its place');
  const pageSize = start.readUInt32LE(48);
  // Read the size before the page numbers' check: a concurrent writer adds pages before counting them.
  const { size } = fstatSync(descriptor);
  for (const page of [0, pageSize]) {
    const last = page + 152 <= length ? Number(start.readBigUInt64LE(page + 144)) : 0;
    if ((last + 1) * pageSize > size) throw new Error('a file that was cut short');
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
