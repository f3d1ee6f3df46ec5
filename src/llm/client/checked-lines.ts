/** An append-only file of JSON lines, each with its own checksum: what a crash or a hand broke is found, never believed. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { WorkbenchError } from '../../run/errors.js';
import { readFully, writeError, writeFully } from '../../run/files.js';

/** What to do about a line that cannot be believed. */
export const brokenLineHint = 'Delete this line and all after it: what they held is asked again.';

/** Where a line stands, in bytes, without its newline. */
export interface LinePosition {
  offset: number;
  length: number;
}

/** An open file of checked lines; close it after use. */
export interface CheckedLines {
  /** Bytes of an unfinished or broken last line, left by a crash; opening cut them off (read-only: skips them). */
  readonly tornBytes: number;
  /** Hands the line to the system at once: a killed process loses none, a power cut those of the last second. */
  append(value: object): LinePosition;
  read(position: LinePosition): unknown;
  /** Forces everything to the disk. */
  sync(): void;
  close(): void;
}

const syncEvery = 1000; // milliseconds
const chunkBytes = 1 << 20;
/** Bytes; prompts have some hundred thousand. */
const longestLine = 1 << 24;
const opening = '{"sum":"';
const sumLength = 16;

/**
 * Opens such a file, creates it with its folder, and reads it through once, a piece at a time.
 * @param onLine every whole line, in order; `place` is for errors
 * @throws WorkbenchError `data` naming the first broken line before the last; or for a missing file that is `readOnly`
 */
export function openCheckedLines(
  file: string,
  { readOnly }: { readOnly: boolean },
  onLine: (value: unknown, position: LinePosition, place: string) => void,
): CheckedLines {
  const descriptor = openFile(file, readOnly);
  let size: number;
  let tornBytes: number;
  try {
    size = scan(descriptor, file, onLine);
    tornBytes = fstatSync(descriptor).size - size;
    if (tornBytes > 0 && !readOnly) ftruncateSync(descriptor, size);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  let synced = performance.now();
  let unsynced = false;

  const sync = () => {
    if (unsynced) fsyncSync(descriptor);
    unsynced = false;
    synced = performance.now();
  };

  return {
    tornBytes,
    append(value) {
      const bytes = Buffer.from(`${checked(value)}\n`);
      const position = { offset: size, length: bytes.length - 1 };
      try {
        writeFully(descriptor, bytes, size);
      } catch (error) {
        ftruncateSync(descriptor, size);
        throw writeError(error, file);
      }
      size += bytes.length;
      unsynced = true;
      if (performance.now() - synced > syncEvery) sync();
      return position;
    },
    read({ offset, length }) {
      const bytes = Buffer.alloc(length);
      readFully(descriptor, bytes, offset);
      const value = parse(bytes.toString());
      if (value !== undefined) return value;
      throw new WorkbenchError('data', `expected the line that stood at byte ${offset}, got another, at ${file}`, {
        hint: 'Something else wrote the file meanwhile.',
      });
    },
    sync,
    close() {
      try {
        sync();
      } finally {
        closeSync(descriptor);
      }
    },
  };
}

function openFile(file: string, readOnly: boolean): number {
  try {
    if (readOnly) return openSync(file, 'r');
    mkdirSync(dirname(file), { recursive: true });
    // "a" would ignore our positions, "w+" would empty the file: so it is made, then opened.
    closeSync(openSync(file, 'a'));
    return openSync(file, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw writeError(error, file);
    throw new WorkbenchError('data', `expected the completions of an evaluation, got nothing, at ${file}`, {
      hint: 'Replay needs the file that the evaluation wrote.',
      cause: error,
    });
  }
}

/** @returns bytes of the whole lines */
function scan(
  descriptor: number,
  file: string,
  onLine: (value: unknown, position: LinePosition, place: string) => void,
): number {
  const total = fstatSync(descriptor).size;
  let rest = Buffer.alloc(0);
  let offset = 0;
  let line = 0;
  for (let done = 0; done < total;) {
    const chunk = Buffer.alloc(Math.min(chunkBytes, total - done));
    readFully(descriptor, chunk, done);
    done += chunk.length;
    rest = Buffer.concat([rest, chunk]);
    let begin = 0;
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a, begin)) {
      line++;
      const value = parse(rest.toString('utf8', begin, end));
      const length = end - begin;
      if (value === undefined) {
        // A power cut may leave a last line of full length with empty blocks: it counts as torn.
        if (offset + length + 1 === total) return offset;
        throw new WorkbenchError('data', `expected a line with a checksum that fits, got another, at ${file}:${line}`, {
          hint: brokenLineHint,
        });
      }
      onLine(value, { offset, length }, `${file}:${line}`);
      offset += length + 1;
      begin = end + 1;
    }
    rest = rest.subarray(begin);
    if (rest.length > longestLine) {
      const place = `${file}:${line + 1}`;
      throw new WorkbenchError(
        'data',
        `expected lines of at most ${longestLine} bytes, got a longer one, at ${place}`,
        {
          hint: brokenLineHint,
        },
      );
    }
  }
  return offset;
}

/** The checksum is the line's first field and covers the text of all others. */
function checked(value: object): string {
  const rest = JSON.stringify(value).slice(1);
  return `${opening}${sumOf(rest)}",${rest}`;
}

function parse(line: string): unknown {
  const rest = line.slice(opening.length + sumLength + 2);
  if (line.slice(0, -rest.length) !== `${opening}${sumOf(rest)}",`) return undefined;
  try {
    return JSON.parse(`{${rest}`);
  } catch {
    return undefined;
  }
}

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, sumLength);
}
