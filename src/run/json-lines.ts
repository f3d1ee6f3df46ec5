/** Append-only logs of one JSON value a line, safe to cut at a known offset and to read after a crash. */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { WorkbenchError } from './errors.js';
import { readFully, readTextFile, writeError, writeFully } from './files.js';
import { ofShape, parseJson } from './read-json.js';

/** The beginning of a log, as a checkpoint remembers it. */
export interface LogMark {
  /** Its length; a line ends there. */
  bytes: number;
  /** sha256 (hex) of those bytes; marks of older programs have none. */
  sha256?: string | undefined;
}

/** An open log; close it after use. */
export interface JsonLines {
  /** Bytes of an unfinished last line, left by a crash, that opening cut off; 0 for a clean file. */
  readonly tornBytes: number;
  /** Adds a line; it is in memory until `flush`. NaN and infinities are written as `"NaN"`, `"Infinity"`, `"-Infinity"`. */
  append(value: unknown): void;
  /** Writes what is pending to disk, with fsync. @returns what is in the file, for a checkpoint */
  flush(): Required<LogMark>;
  /** @throws WorkbenchError `data` when the file is shorter than the mark, no line ends there, or what is before it was altered */
  check(mark: LogMark): void;
  /** Checks, and forgets every line after the mark, pending ones included: a resumed run writes them again. */
  truncateAfter(mark: LogMark): void;
  /** Flushes and closes. */
  close(): void;
}

/**
 * Opens a log for appending; creates it with its folder, cuts a torn last line.
 * @throws WorkbenchError `failure` where it cannot be written
 */
export function openJsonLines(file: string): JsonLines {
  const { descriptor, whole } = open(file);
  let size = whole.lastIndexOf(0x0a) + 1;
  const tornBytes = whole.length - size;
  if (tornBytes > 0) ftruncateSync(descriptor, size);
  let pending: string[] = [];
  // Goes on with every line, so that a mark costs the same however long the log is.
  let hash = createHash('sha256').update(whole.subarray(0, size));
  const mark = () => ({ bytes: size, sha256: hash.copy().digest('hex') });

  const flush = () => {
    if (pending.length === 0) return mark();
    const bytes = Buffer.from(pending.join(''));
    try {
      writeFully(descriptor, bytes, size);
      fsyncSync(descriptor);
    } catch (error) {
      ftruncateSync(descriptor, size);
      throw writeError(error, file);
    }
    pending = [];
    size += bytes.length;
    hash.update(bytes);
    return mark();
  };

  const hashBefore = ({ bytes: offset, sha256 }: LogMark) => {
    const kept = Buffer.alloc(Math.min(offset, size));
    readFully(descriptor, kept, 0);
    if (offset > size || (offset > 0 && kept.at(-1) !== 0x0a)) {
      throw otherLog(`a line that ends at byte ${offset}, got ${size} bytes, at ${file}`);
    }
    const before = createHash('sha256').update(kept);
    if (sha256 === undefined || before.copy().digest('hex') === sha256) return before;
    throw otherLog(`the first ${offset} bytes as the checkpoint knows them, got others, at ${file}`);
  };

  return {
    tornBytes,
    append(value) {
      pending.push(`${JSON.stringify(value, nameNonFinite)}\n`);
    },
    flush,
    check(at) {
      hashBefore(at);
    },
    truncateAfter(at) {
      pending = [];
      hash = hashBefore(at);
      ftruncateSync(descriptor, at.bytes);
      size = at.bytes;
    },
    close() {
      try {
        flush();
      } finally {
        closeSync(descriptor);
      }
    },
  };
}

function open(file: string): { descriptor: number; whole: Buffer } {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const whole = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
    // Opened without "a": appending mode ignores truncation points on some systems; positions are ours.
    return { descriptor: openSync(file, existsSync(file) ? 'r+' : 'w+'), whole };
  } catch (error) {
    throw writeError(error, file);
  }
}

/**
 * All values of a log, in order; a torn last line is left out.
 * @param schema of a line, where `anyNumber` reads the named numbers; default: any JSON
 * @throws WorkbenchError `data` with file and line for one that is not JSON, or of another shape
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
