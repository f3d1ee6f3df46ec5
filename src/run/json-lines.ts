/** Append-only JSON logs, one value per line: truncated at a known offset, or with a checksum per line. */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { WorkbenchError } from './errors.js';
import { makeFolder, readFully, readTextFile, refuseSpecial, writeError, writeFully } from './files.js';
import { ofShape, parseJson } from './read-json.js';

/** Beginning of a log, as a checkpoint records it. */
export interface LogMark {
  /** Its length; a line ends there. */
  bytes: number;
  /** sha256 (hex) of those bytes; absent in marks of older versions. */
  sha256?: string | undefined;
}

/**
 * Opens a log for appending; creates it with its folder, removes an unfinished last line.
 * @throws WorkbenchError `failure` if it cannot be written
 */
export function openJsonLines(file: string) {
  const log = openForAppending(file);
  const whole = Buffer.alloc(log.size);
  readFully(log.descriptor, whole, 0);
  const lines = whole.subarray(0, whole.lastIndexOf(lineFeed) + 1);
  const truncatedBytes = whole.length - lines.length;
  if (truncatedBytes > 0) log.cut(lines.length);
  let pending: string[] = [];
  // Updated with every line, so that a mark costs the same for any length of the log.
  let hash = createHash('sha256').update(lines);

  const flush = (): Required<LogMark> => {
    if (pending.length > 0) {
      const bytes = Buffer.from(pending.join(''));
      log.append(bytes, { sync: true });
      pending = [];
      hash.update(bytes);
    }
    return { bytes: log.size, sha256: hash.copy().digest('hex') };
  };

  const hashBefore = (mark: LogMark) => {
    const kept = Buffer.alloc(Math.min(mark.bytes, log.size));
    readFully(log.descriptor, kept, 0);
    return hashOfBeginning(kept, mark, log.size, file);
  };

  return {
    /** Bytes of an unfinished last line that opening removed; 0 for a clean file. */
    truncatedBytes,
    /** Adds a line; kept in memory until `flush`. NaN and infinities are written as their names. */
    append(value: unknown): void {
      pending.push(`${JSON.stringify(value, nameNonFinite)}\n`);
    },
    /** Writes pending lines to disk, with fsync. @returns the contents' mark, for a checkpoint */
    flush,
    /** @throws WorkbenchError `data` if no line ends at the mark, or earlier bytes were altered */
    check: (mark: LogMark) => void hashBefore(mark),
    /** Checks the mark and drops all later lines, pending ones included: a resumed run writes them again. */
    truncateAfter(mark: LogMark): void {
      pending = [];
      hash = hashBefore(mark);
      log.cut(mark.bytes);
    },
    close(): void {
      try {
        flush();
      } finally {
        closeSync(log.descriptor);
      }
    },
  };
}

/** @param kept the first bytes of the log, up to the length of the mark */
function hashOfBeginning(kept: Uint8Array, { bytes: offset, sha256 }: LogMark, size: number, file: string) {
  if (offset > size || (offset > 0 && kept.at(-1) !== lineFeed)) {
    throw otherLog(`a line that ends at byte ${offset}, got ${size} bytes, at ${file}`);
  }
  const before = createHash('sha256').update(kept);
  if (sha256 === undefined || before.copy().digest('hex') === sha256) return before;
  throw otherLog(`the first ${offset} bytes as the checkpoint knows them, got others, at ${file}`);
}

/** Compares a finished log with a mark. @throws WorkbenchError `data` if it is shorter, or altered before the mark */
export function checkLogMark(file: string, mark: LogMark): void {
  refuseSpecial(file, 'a log');
  const whole = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  hashOfBeginning(whole.subarray(0, mark.bytes), mark, whole.length, file);
}

/**
 * All values of a log in order; an unfinished last line is skipped.
 * @param schema of a line, where `anyNumber` reads the named numbers; default: any JSON
 * @throws WorkbenchError `data` with file and line for a line that is not JSON or has another shape
 */
export function readJsonLines<T>(file: string, schema: z.ZodType<T> = z.custom<T>()): T[] {
  const lines = readTextFile(file, 'a log').split('\n');
  lines.pop();
  return lines.map((line, i) => {
    const about = { what: 'a line of this log', place: `${file}:${i + 1}` };
    return ofShape(parseJson(line, about), schema, about);
  });
}

function otherLog(expectation: string): WorkbenchError {
  return new WorkbenchError('data', `expected ${expectation}`, {
    hint: 'The log does not belong to this checkpoint, or was altered: restore it from a copy, or start a new run.',
  });
}

function nameNonFinite(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/** Hint for a line with a wrong checksum. */
export const brokenLineHint = 'Delete this line and all after it: what they held is asked again.';

/** Without its newline, in bytes. */
export type LinePosition = { offset: number; length: number };

const syncEvery = 1000; // milliseconds
const chunkBytes = 1 << 20;
/** Maximum bytes of a checked line; prompts have some hundred thousand. */
const longestLine = 1 << 24;
const lineFeed = 0x0a;

/**
 * Opens a log whose lines begin with a checksum and reads it through once; close it after use.
 * @param readOnly a missing file is refused, a truncated last line skipped instead of cut off
 * @param onLine every whole line, in order; `place` is for errors
 * @throws WorkbenchError `data` naming the first broken line before the last; or for a missing file that is `readOnly`
 */
export function openCheckedLines(
  file: string,
  { readOnly }: { readOnly: boolean },
  onLine: (value: unknown, position: LinePosition, place: string) => void,
) {
  const log = openForAppending(file, readOnly);
  let truncatedBytes: number;
  try {
    const whole = scanChecked(log, file, onLine);
    truncatedBytes = log.size - whole;
    if (truncatedBytes > 0 && !readOnly) log.cut(whole);
  } catch (error) {
    closeSync(log.descriptor);
    throw error;
  }
  let synced = performance.now();
  let unsynced = false;

  const sync = () => {
    if (unsynced) fsyncSync(log.descriptor);
    unsynced = false;
    synced = performance.now();
  };

  return {
    /** Bytes of an unfinished or broken last line, left by a crash. */
    truncatedBytes,
    /** Writes the line at once: a killed process loses none, a power cut those of the last second. */
    append(value: object): LinePosition {
      const bytes = Buffer.from(`${checked(value)}\n`);
      const position = { offset: log.size, length: bytes.length - 1 };
      log.append(bytes);
      unsynced = true;
      if (performance.now() - synced > syncEvery) sync();
      return position;
    },
    read({ offset, length }: LinePosition): unknown {
      const bytes = Buffer.alloc(length);
      readFully(log.descriptor, bytes, offset);
      const value = parseChecked(bytes.toString());
      if (value !== undefined) return value;
      throw new WorkbenchError('data', `expected the line that stood at byte ${offset}, got another, at ${file}`, {
        hint: 'Something else wrote the file meanwhile.',
      });
    },
    sync,
    close(): void {
      try {
        sync();
      } finally {
        closeSync(log.descriptor);
      }
    },
  };
}

function scanChecked(
  { descriptor, size: total }: { descriptor: number; size: number },
  file: string,
  onLine: (value: unknown, position: LinePosition, place: string) => void,
): number {
  const broken = (expected: string, got: string, line: number) =>
    new WorkbenchError('data', `expected ${expected}, got ${got}, at ${file}:${line}`, { hint: brokenLineHint });
  let rest = Buffer.alloc(0);
  let offset = 0;
  let line = 0;
  for (let done = 0; done < total;) {
    const chunk = Buffer.alloc(Math.min(chunkBytes, total - done));
    readFully(descriptor, chunk, done);
    done += chunk.length;
    rest = Buffer.concat([rest, chunk]);
    let begin = 0;
    for (let end = rest.indexOf(lineFeed); end >= 0; end = rest.indexOf(lineFeed, begin)) {
      line++;
      const value = parseChecked(rest.toString('utf8', begin, end));
      const length = end - begin;
      // A power cut may leave a last line of full length with empty blocks: it counts as unfinished.
      if (value === undefined && offset + length + 1 === total) return offset;
      if (value === undefined) throw broken('a line with a checksum that fits', 'another', line);
      onLine(value, { offset, length }, `${file}:${line}`);
      offset += length + 1;
      begin = end + 1;
    }
    rest = rest.subarray(begin);
    if (rest.length > longestLine) throw broken(`lines of at most ${longestLine} bytes`, 'a longer one', line + 1);
  }
  return offset;
}

const opening = '{"sum":"';
const sumLength = 16;

/** The checksum is the line's first field and covers the text of all others. */
function checked(value: object): string {
  const rest = JSON.stringify(value).slice(1);
  return `${opening}${sumOf(rest)}",${rest}`;
}

function parseChecked(line: string): unknown {
  const rest = line.slice(opening.length + sumLength + 2);
  if (line.slice(0, -rest.length) !== `${opening}${sumOf(rest)}",`) return undefined;
  try {
    return JSON.parse(`{${rest}`);
  } catch {
    return undefined;
  }
}

const sumOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, sumLength);

/** An append-only file; a failed write leaves no partial data. */
function openForAppending(file: string, readOnly = false) {
  const descriptor = openFile(file, readOnly);
  let { size } = fstatSync(descriptor);
  const cut = (bytes: number) => {
    ftruncateSync(descriptor, bytes);
    size = bytes;
  };
  return {
    descriptor,
    get size() {
      return size;
    },
    cut,
    append(bytes: Uint8Array, { sync = false } = {}): void {
      try {
        writeFully(descriptor, bytes, size);
        if (sync) fsyncSync(descriptor);
      } catch (error) {
        cut(size);
        throw writeError(error, file);
      }
      size += bytes.length;
    },
  };
}

function openFile(file: string, readOnly: boolean): number {
  refuseSpecial(file, 'a log');
  try {
    if (readOnly) return openSync(file, 'r');
    makeFolder(dirname(file));
    // "a" ignores write positions and "w+" empties the file: create it, then open it.
    closeSync(openSync(file, 'a'));
    return openSync(file, 'r+');
  } catch (error) {
    if (!readOnly || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw writeError(error, file);
    throw new WorkbenchError('data', `expected the completions of an evaluation, got nothing, at ${file}`, {
      hint: 'Replay needs the file that the evaluation wrote.',
      cause: error,
    });
  }
}

/** Position in a log. */
export interface Cursor {
  /** Bytes read; a line ends there. */
  offset: number;
  /** Hash of the bytes just before, to recognise another log of the same length. */
  mark: string;
}

/** Start of a log. */
export const logStart: Cursor = { offset: 0, mark: '' };

const markBytes = 128;
const partBytes = 1 << 20;

/**
 * Reads whole lines after a cursor, up to a megabyte. A missing log is empty, a link counts as missing.
 * @returns `reset`: earlier records are invalid, these are the first ones
 * @throws WorkbenchError `data` for a line that is not JSON, has another shape, or is longer than a megabyte
 */
export function readOn<T>(file: string, schema: z.ZodType<T>, from: Cursor) {
  const descriptor = openPlain(file);
  if (descriptor === undefined) return { records: [] as T[], cursor: logStart, reset: from.offset > 0, more: false };
  try {
    const { size } = fstatSync(descriptor);
    const reset = from.offset > size || markOf(descriptor, from.offset) !== from.mark;
    const offset = reset ? 0 : from.offset;
    const bytes = Buffer.alloc(Math.min(partBytes, size - offset));
    readFully(descriptor, bytes, offset);
    const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
    if (whole.length === 0 && bytes.length === partBytes) {
      throw new WorkbenchError('data', `expected lines of at most ${partBytes} bytes, got a longer one, at ${file}`);
    }
    const end = offset + whole.length;
    const about = { what: 'a line of this log', place: `${file}, after byte ${offset}` };
    const lines = whole.toString('utf8').split('\n').slice(0, -1);
    return {
      records: lines.map((line) => ofShape(parseJson(line, about), schema, about)),
      cursor: { offset: end, mark: markOf(descriptor, end) },
      reset: reset && from.offset > 0,
      more: bytes.length === partBytes && end < size,
    };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reports every record of a log once, in order; lines that a resumed run writes again are skipped.
 * @returns `look`: reports new records; call it regularly; throws as `readOn`
 */
export function followRecords<T>(file: string, schema: z.ZodType<T>, onRecord: (record: T) => void): () => void {
  let cursor = logStart;
  let [read, reported] = [0, 0];
  return () => {
    for (let more = true; more;) {
      const part = readOn(file, schema, cursor);
      ({ cursor, more } = part);
      if (part.reset) read = 0;
      for (const record of part.records) {
        if (++read <= reported) continue;
        reported = read;
        onRecord(record);
      }
    }
  };
}

function openPlain(file: string): number | undefined {
  try {
    return openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function markOf(descriptor: number, offset: number): string {
  if (offset === 0) return '';
  const bytes = Buffer.alloc(Math.min(markBytes, offset));
  readFully(descriptor, bytes, offset - bytes.length);
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12);
}
