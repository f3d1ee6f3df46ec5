/** A log that grows, read from where the last reading ended; one that was cut or replaced begins anew. */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { z } from 'zod';
import { WorkbenchError } from './errors.js';
import { readFully } from './files.js';
import { ofShape, parseJson } from './read-json.js';

/** How far a log was read. */
export interface Cursor {
  /** Bytes; a line ends there. */
  offset: number;
  /** Of the bytes just before: a log of the same length with other lines is another log. */
  mark: string;
}

/** The beginning of every log. */
export const logStart: Cursor = { offset: 0, mark: '' };

/** What was read. */
export interface Part<T> {
  records: T[];
  cursor: Cursor;
  /** What was read before no longer holds: these records are the first of all. */
  reset: boolean;
  /** More can be read at once. */
  more: boolean;
}

const markBytes = 128;
const partBytes = 1 << 20;
const lineFeed = 0x0a;

/**
 * The whole lines of a JSON log after a cursor, a megabyte at a time. A last line without its end is left for later, a missing
 * log is empty, a link is taken for missing.
 * @throws WorkbenchError `data` for a line that is no JSON, of another shape, or longer than a megabyte
 */
export function readOn<T>(file: string, schema: z.ZodType<T>, from: Cursor): Part<T> {
  const descriptor = openPlain(file);
  if (descriptor === undefined) return { records: [], cursor: logStart, reset: from.offset > 0, more: false };
  try {
    const { size } = fstatSync(descriptor);
    const reset = from.offset > size || markOf(descriptor, from.offset) !== from.mark;
    const offset = reset ? 0 : from.offset;
    const bytes = Buffer.alloc(Math.min(partBytes, size - offset));
    readFully(descriptor, bytes, offset);
    const whole = bytes.subarray(0, bytes.lastIndexOf(lineFeed) + 1);
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
 * Tells every record of a log once, in order. Who goes on after a kill cuts its log and writes the same lines again: those are passed over.
 * @returns `look`: tells what has been added since; to be called now and then; throws as `readOn` does
 */
export function followRecords<T>(file: string, schema: z.ZodType<T>, onRecord: (record: T) => void): () => void {
  let cursor = logStart;
  let [read, told] = [0, 0];
  return () => {
    for (let more = true; more;) {
      const part = readOn(file, schema, cursor);
      ({ cursor, more } = part);
      if (part.reset) read = 0;
      for (const record of part.records) {
        if (++read <= told) continue;
        told = read;
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
