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
export type DatabaseFiles = { id: string; lock: number; data: number };

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
 * Creates a folder with an empty pair in one step and opens it. Undefined when another process was faster, or it was deleted meanwhile.
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
    for (const name of [lockName, dataName]) if (!existsSync(join(folder, name))) createEmpty(join(folder, name));
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

/** A folder of two links in a temporary folder, always of the same name: lmdb keeps some 100 kB for every name that it ever opened. */
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

/** Bytes of a page's header. */
const headerBytes = 24;

/**
 * A read beyond the file's end would end the process: it is mapped into memory. The file may be shorter than the number
 * of pages says, when the last ones were allocated and freed within a transaction.
 * @source mdb.c, `MDB_meta`: two pages, each with its magic number, page size, roots, last page and transaction
 */
function checkDatabase(descriptor: number): void {
  if (fstatSync(descriptor).size === 0) return;
  for (let tried: bigint | undefined; ;) {
    const first = readBytes(descriptor, 160, 0);
    if (first.readUInt32LE(headerBytes) !== 0xbeefc0de) throw new Error('another file in its place');
    const pageSize = first.readUInt32LE(48);
    const second = readBytes(descriptor, 160, pageSize);
    const newest = first.readBigUInt64LE(152) > second.readBigUInt64LE(152) ? first : second;
    // The size after the number of pages: a concurrent writer adds pages before counting them.
    const pages = Math.floor(fstatSync(descriptor).size / pageSize);
    if (newest.readBigUInt64LE(144) < pages) return;
    try {
      return checkPages(descriptor, newest, pageSize, pages);
    } catch (error) {
      // Pages of a snapshot stay as they are until the second commit after it.
      const transaction = newest.readBigUInt64LE(152);
      if (transaction === tried) throw error;
      tried = transaction;
    }
  }
}

/**
 * Reads every page that a snapshot uses: the trees of free pages, of tables and of each table.
 * @source mdb.c: `MDB_page`, `MDB_node`, `MDB_db`, `MDB_ovpage`
 */
function checkPages(descriptor: number, meta: Buffer, pageSize: number, pages: number): void {
  const pageAt = (number: number) => readBytes(descriptor, pageSize, number * pageSize);
  const numbers = [meta.readUIntLE(88, 6), meta.readUIntLE(136, 6)];
  for (const number of numbers) {
    if (number === emptyTree) continue;
    // In a damaged file a page may lead back to another.
    const page = pageAt(numbers.length > pages ? pages : number);
    const isBranch = page.readUInt16LE(18) === 1;
    for (let at = headerBytes; at < headerBytes + page.readUInt16LE(20); at += 2) {
      const node = headerBytes + page.readUInt16LE(at);
      const flags = page.readUInt16LE(node + 4);
      const value = node + 8 + page.readUInt16LE(node + 6);
      if (isBranch) numbers.push(page.readUIntLE(node, 6));
      else if (flags === 2) numbers.push(page.readUIntLE(value + 40, 6));
      else if (flags === 1) pageAt(page.readUIntLE(value, 6) + page.readUIntLE(value + 16, 6) - 1);
    }
  }
}

const emptyTree = 2 ** 48 - 1;

function readBytes(descriptor: number, length: number, place: number): Buffer {
  const bytes = Buffer.alloc(length);
  if (readSync(descriptor, bytes, 0, length, place) < length) throw new Error('a file that was cut short');
  return bytes;
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
