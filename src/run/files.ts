/** Reads and writes whole files: a write is atomic, and a missing file gives one clear error. */
import { createHash, type Hash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { kill, pid } from 'node:process';
import { WorkbenchError } from './errors.js';

/** Host name in file-name characters: folders may be shared by machines. */
export const machine = hostname().replace(/[^\w.-]/g, '_');

let writes = 0;

/**
 * Writes a file so that readers see the old content or the new one, never a part. Missing folders are created.
 * @param data text (UTF-8), bytes, or chunks of bytes, each written as it comes
 * @throws WorkbenchError `failure` when the disk is full or the place cannot be written; nothing half-written is left
 */
export function writeFileAtomic(path: string, data: string | Uint8Array | Iterable<Uint8Array>): void {
  const folder = dirname(path);
  let temporary: string | undefined;
  try {
    makeFolder(folder);
    tidy(folder);
    const opened = openTemporary(path);
    const { descriptor } = opened;
    temporary = opened.temporary;
    try {
      const chunks = typeof data === 'string' ? [Buffer.from(data)] : data instanceof Uint8Array ? [data] : data;
      for (const chunk of chunks) writeFully(descriptor, chunk);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    throw writeError(error, path);
  }
  syncFolder(folder);
}

function openTemporary(path: string) {
  for (;;) {
    const temporary = temporaryName(path, ++writes);
    try {
      return { temporary, descriptor: openSync(temporary, 'wx') };
    } catch (error) {
      // Leftover of a killed process with the same number: numbers are reused, in containers always.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/**
 * Creates a folder and its parents. Not with `recursive`: Node 22 never returns below /proc.
 * @throws WorkbenchError `failure` if it cannot be created
 */
export function makeFolder(folder: string): void {
  for (let tried = 1; ; tried++) {
    try {
      if (isFolder(folder)) return;
      makeFolder(dirname(resolve(folder)));
      mkdirSync(folder);
    } catch (error) {
      // Other processes may create and remove the same folders meanwhile.
      const mayPass = ['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');
      if (!mayPass || tried === 10) throw writeError(error, folder);
    }
  }
}

/** True for a folder, or a link to one. */
export const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Creates a folder for this process in the system's temporary folder and removes those of killed processes.
 * @param use a lower-case word
 */
export function temporaryFolder(use: string): string {
  const made = mkdtempSync(join(tmpdir(), `kgwalk-${use}-${machine}-${pid}-`));
  const root = dirname(made);
  for (const name of readdirSync(root)) {
    const [, host, writer] = /^kgwalk-[a-z]+-(.+)-(\d+)-\w{6}$/.exec(name) ?? [];
    if (host !== machine || isRunning(Number(writer))) continue;
    try {
      rmSync(join(root, name), { recursive: true, force: true });
    } catch {
      // Owned by another user.
    }
  }
  return made;
}

const tidied = new Set<string>();

/** On the first write in a folder, removes leftovers of killed processes. */
function tidy(folder: string): void {
  const place = resolve(folder);
  if (tidied.has(place)) return;
  tidied.add(place);
  for (const name of readdirSync(folder)) {
    const writer = writerOf(join(folder, name));
    if (writer?.isDead && !writer.isOwn) rmSync(join(folder, name), { force: true });
  }
}

/** Temporary name of a file or folder that this process is making, with its number and machine. */
export function temporaryName(path: string, count: number): string {
  return join(dirname(path), `.${basename(path)}.${pid}@${machine}.${count}.tmp`);
}

/** Milliseconds without a write after which a writer on another machine counts as dead. */
const longestPause = 3_600_000;

/** Writer of a temporary file, from its name; `isOwn`: this process, or an earlier one with its number. */
function writerOf(path: string): { of: string; isOwn: boolean; isDead: boolean } | undefined {
  const [, of, writer, host] = /^\.(.+)\.(\d+)@([\w.-]+)\.\d+\.tmp$/.exec(basename(path)) ?? [];
  if (of === undefined) return undefined;
  const isDead =
    host === machine
      ? !isRunning(Number(writer))
      : Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > longestPause;
  return { of, isOwn: host === machine && Number(writer) === pid, isDead };
}

/**
 * Removes leftovers of killed writers below a folder; what a live process is writing stays.
 * @param of the file they were writing; default: any
 */
export function removeLeftovers(folder: string, of?: string): void {
  for (const name of namesIn(folder)) {
    const writer = writerOf(join(folder, name));
    if (!writer || (of !== undefined && writer.of !== of)) continue;
    if (writer.isOwn || writer.isDead) rmSync(join(folder, name), { force: true });
  }
}

/** Names below a folder; empty if it is missing or deleted meanwhile. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true }) as string[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Writes all bytes of `chunk` at `position`, or at the current position; one system call may write fewer. */
export function writeFully(descriptor: number, chunk: Uint8Array, position?: number): void {
  for (let done = 0; done < chunk.byteLength;) {
    const at = position === undefined ? null : position + done;
    done += writeSync(descriptor, chunk, done, chunk.byteLength - done, at);
  }
}

/** Fills `into` from `position`; bytes beyond the end of the file are left unchanged. */
export function readFully(descriptor: number, into: Uint8Array, position: number): void {
  for (let done = 0; done < into.byteLength;) {
    const read = readSync(descriptor, into, done, into.byteLength - done, position + done);
    if (read === 0) return;
    done += read;
  }
}

/** `ENOENT` too: folders are created before writing, so someone deleted them meanwhile. */
const unwritable = new Set('EACCES EPERM EROFS ENOTDIR EISDIR EEXIST ENAMETOOLONG ENOENT'.split(' '));

/** Converts a system error of a write into a user error; other errors pass unchanged. */
export function writeError(error: unknown, path: string): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  const details = { cause: error, fatal: true };
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    const hint =
      'Free some space, or move the folder with --run-dir, KGWALK_RUNS or KGWALK_HOME; what was there before is intact.';
    const message = `no space left at ${dirname(path)}, writing ${basename(path)}`;
    return new WorkbenchError('failure', message, { hint, ...details });
  }
  if (code !== undefined && unwritable.has(code)) {
    const hint = 'Check the name and its permissions, or choose another place.';
    const message = `expected a place that can be written, got ${code}, at ${path}`;
    return new WorkbenchError('failure', message, { hint, ...details });
  }
  return error;
}

/** Updates a hash with a file's bytes, streamed. @returns the same hash */
export async function hashOfFile(path: string, hash: Hash): Promise<Hash> {
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash;
}

/** sha256 (hex) of a file's bytes. @throws WorkbenchError `data` if it cannot be read */
export async function sha256File(path: string): Promise<string> {
  refuseSpecial(path, 'a file');
  try {
    return (await hashOfFile(path, createHash('sha256'))).digest('hex');
  } catch (error) {
    throw readError(error, path, 'a file');
  }
}

/** The same, synchronous. @param what name of the file in errors, such as `a table` */
export function sha256FileSync(path: string, what = 'a file'): string {
  refuseSpecial(path, what);
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(2 ** 20);
  const descriptor = openSync(path, 'r');
  try {
    for (let read; (read = readSync(descriptor, chunk)) > 0;) hash.update(chunk.subarray(0, read));
  } finally {
    closeSync(descriptor);
  }
  return hash.digest('hex');
}

/** Maximum bytes of a text read at once, close to the longest string. */
const longestText = 2 ** 29 - 2 ** 10;

/**
 * The text of a UTF-8 file, without a byte order mark.
 * @param what the file to the user, with its article, such as `a preset`
 * @param limit of its size in bytes; default 512 MiB
 * @throws WorkbenchError `data` when it is missing, unreadable, longer or not UTF-8
 */
export function readTextFile(path: string, what: string, limit = longestText): string {
  try {
    refuseSpecial(path, what);
    const { size } = statSync(path);
    if (size > limit) {
      throw new WorkbenchError('data', `expected ${what} of at most ${limit} bytes, got ${size}, at ${path}`, {
        hint: 'Is this the right file?',
      });
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof WorkbenchError) throw error;
    throw readError(error, path, what);
  }
}

/**
 * Refuses pipes and devices, which may never end; those named by a shell, such as /dev/stdin, are allowed.
 * @throws WorkbenchError `data`
 */
export function refuseSpecial(path: string, what: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isFile() || stats.isDirectory() || /^\/(dev|proc\/self)\/(fd\/|std)/.test(resolve(path))) return;
  const got = stats.isFIFO() ? 'a pipe' : stats.isSocket() ? 'a socket' : 'a device';
  throw new WorkbenchError('data', `expected ${what}, got ${got}, at ${path}`, { hint: 'Put a file in its place.' });
}

/** Converts a system error of a read into a user error. @param what name of the file with its article */
export function readError(error: unknown, path: string, what: string): WorkbenchError {
  const code = (error as NodeJS.ErrnoException).code;
  const got =
    code === 'ENOENT' ? 'nothing' : code === 'EISDIR' ? 'a folder' : code === 'EACCES' ? 'no permission' : code;
  const found = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'bytes that are not UTF-8' : got;
  return new WorkbenchError('data', `expected ${what}, got ${found}, at ${path}`, {
    hint: code === 'ENOENT' ? 'Check the name and the folder.' : 'Check the file.',
    cause: error,
  });
}

/** Makes a rename durable; some systems cannot open a folder, and the file is whole either way. */
function syncFolder(folder: string): void {
  try {
    flush(folder);
  } catch {
    return;
  }
}

/** Waits until the content of a file, or the names in a folder, are on the disk. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * A file used under its hash, sha256 (hex). `check` throws WorkbenchError `data`, fatal, when it was altered, replaced
 * or removed; it hashes again only where size, times or place differ.
 * @param hashOf reads the whole file by default
 * @throws WorkbenchError `data` when it cannot be read, or changes while it is hashed
 */
export async function hashedFile(path: string, hashOf: (path: string) => Promise<string> = sha256File) {
  let known = fileStamp(path);
  const hash = await hashOf(path);
  const check = async () => {
    const now = fileStamp(path);
    if (now === known) return;
    if (now === undefined) throw changed(path, hash, 'nothing');
    if ((await sha256File(path)) !== hash) throw changed(path, hash, 'another');
    known = now;
  };
  await check();
  return { hash, check };
}

/** Change stamp of a file with nanoseconds; undefined for a missing file. */
export function fileStamp(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ');
}

function changed(path: string, hash: string, got: string): WorkbenchError {
  const message = `expected the file that was opened (sha256 ${hash.slice(0, 12)}…), got ${got}, at ${path}`;
  const hint =
    'It changed while it was in use; nothing made with the changed file was kept. ' +
    'Put it back, or start again with the new one.';
  return new WorkbenchError('data', message, { hint, fatal: true });
}

/** True if a process of this machine has this number, also if it belongs to another user. */
export function isRunning(id: number): boolean {
  try {
    return kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Free bytes on the disk of `folder`. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(existingPart(folder));
  return bavail * bsize;
}

/** The existing part of `path`. */
export function existingPart(path: string): string {
  let place = path;
  while (!existsSync(place) && place !== dirname(place)) place = dirname(place);
  return place;
}

/** Bytes of a file, or of all files in a folder. A link counts as itself, and what goes away meanwhile as nothing. */
export function bytesIn(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}
