/** Follows a growing log from the end of the last read; a truncated or replaced log is read from the start. */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { z } from 'zod';
import { WorkbenchError } from './errors.js';
import { readFully } from './files.js';
import { ofShape, parseJson } from './read-json.js';

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
