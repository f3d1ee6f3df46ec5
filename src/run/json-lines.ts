/** Append-only logs of one JSON value a line, safe to cut at a known offset and to read after a crash. */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { WorkbenchError } from './errors.js';
import { readTextFile, writeError, writeFully } from './files.js';

export interface JsonLines {
  /** Bytes of an unfinished last line, left by a crash, that opening cut off; 0 for a clean file. */
  readonly tornBytes: number;
  /** Adds a line; it is in memory until `flush`. NaN and infinities are written as `"NaN"`, `"Infinity"`, `"-Infinity"`. */
  append(value: unknown): void;
  /** Writes what is pending to disk, with fsync. @returns bytes in the file: the offset a checkpoint stores */
  flush(): number;
  /**
   * Forgets every line at or after `offset`, pending ones included: a resumed run writes them again.
   * @throws WorkbenchError `data` when the file is shorter or no line ends there
   */
  truncateAfter(offset: number): void;
  /** Flushes and closes. */
  close(): void;
}

/** Opens a log for appending; creates it with its folder, cuts a torn last line. */
export function openJsonLines(file: string): JsonLines {
  mkdirSync(dirname(file), { recursive: true });
  const whole = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  let size = whole.lastIndexOf(0x0a) + 1;
  const tornBytes = whole.length - size;
  // Opened without "a": appending mode ignores truncation points on some systems; positions are ours.
  const descriptor = openSync(file, existsSync(file) ? 'r+' : 'w+');
  if (tornBytes > 0) ftruncateSync(descriptor, size);
  let pending: string[] = [];

  const flush = () => {
    if (pending.length === 0) return size;
    const bytes = Buffer.from(pending.join(''));
    try {
      writeFully(descriptor, bytes, size);
      fsyncSync(descriptor);
    } catch (error) {
      ftruncateSync(descriptor, size);
      throw writeError(error, file);
    }
    pending = [];
    return (size += bytes.length);
  };

  return {
    tornBytes,
    append(value) {
      pending.push(`${JSON.stringify(value, nameNonFinite)}\n`);
    },
    flush,
    truncateAfter(offset) {
      pending = [];
      const before = Buffer.alloc(1);
      const ends = offset === 0 || (readSync(descriptor, before, 0, 1, offset - 1) === 1 && before[0] === 0x0a);
      if (!ends || offset > fstatSync(descriptor).size) {
        throw new WorkbenchError('data', `expected a line that ends at byte ${offset}, got ${size} bytes, at ${file}`, {
          hint: 'The log does not belong to this checkpoint; resume from an earlier one or start a new run.',
        });
      }
      ftruncateSync(descriptor, offset);
      size = offset;
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

/**
 * All values of a log, in order; a torn last line is left out.
 * @throws WorkbenchError `data` with file and line for one that is not JSON
 */
export function readJsonLines<T>(file: string): T[] {
  const lines = readTextFile(file, 'a log').split('\n');
  lines.pop();
  return lines.map((line, i) => {
    try {
      return JSON.parse(line, reviveNonFinite) as T;
    } catch (cause) {
      throw new WorkbenchError('data', `expected a line of JSON, got ${line.slice(0, 60)}, at ${file}:${i + 1}`, {
        cause,
      });
    }
  });
}

const nonFinite = new Set(['NaN', 'Infinity', '-Infinity']);

function nameNonFinite(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

function reviveNonFinite(_key: string, value: unknown): unknown {
  return typeof value === 'string' && nonFinite.has(value) ? Number(value) : value;
}
