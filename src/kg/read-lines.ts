/** Streaming readers for text files of any size. */
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { WorkbenchError } from '../run/errors.js';
import { refuseSpecial } from '../run/files.js';

/** Maximum characters per line, which also bounds regular expressions over lines. */
const longestLine = 2 ** 20;
/** Maximum UTF-8 bytes of such a line. */
const longestLineBytes = 3 * longestLine;

const lineFeed = 0x0a;

/**
 * Streams the lines of a UTF-8 file (unpacked if its name ends in `.gz`) without line ends (LF or CRLF) and byte order mark. Memory does
 * not grow with the file or the unpacked archive.
 * @param what kind of content for error messages, such as `triples`
 * @param take receives each line, empty ones too, with its number from 1; the text may share memory with a chunk of the file
 * @throws WorkbenchError `data` with file and line for invalid UTF-8, a line above 2^20 characters, a damaged archive, an unreadable or
 * missing file; and anything thrown by `take`
 */
export async function readLines(file: string, what: string, take: (text: string, line: number) => void): Promise<void> {
  await readLineBlocks(file, what, (block, firstLine) => {
    const lines = block.toString('utf8').split('\n');
    // There is no line after the last line end.
    if (lines.at(-1) === '') lines.pop();
    lines.forEach((text, i) => {
      throwIfTooLong(text, file, firstLine + i);
      take(text.endsWith('\r') ? text.slice(0, -1) : text, firstLine + i);
    });
    return lines.length;
  });
}

/** Variant of `readLines` in blocks of whole lines of valid UTF-8, line ends included. @param take returns its number of lines; the block is reused */
export async function readLineBlocks(
  file: string,
  what: string,
  take: (block: Buffer, firstLine: number) => number,
): Promise<void> {
  let lines = 0;
  for await (const block of textBlocks(file, what, () => lines)) lines += take(block, lines + 1);
}

/** Lines of the first block of a file, about a mebibyte; errors as `readLines`. */
export async function firstLines(file: string, what: string): Promise<string[]> {
  for await (const block of textBlocks(file, what, () => 0)) return block.toString('utf8').split(/\r?\n/);
  return [];
}

/** Blocks of whole lines of valid UTF-8. @param linesBefore number of lines in the blocks before, for errors */
export async function* textBlocks(file: string, what: string, linesBefore: () => number): AsyncGenerator<Buffer> {
  for await (const block of blocksOf(file, what, linesBefore)) {
    if (!isUtf8(block)) {
      const place = `${file}:${linesBefore() + firstBadLine(block)}`;
      throw new WorkbenchError('data', `expected readable UTF-8 ${what}, got bytes that are not, at ${place}`, {
        hint: 'Save the file as UTF-8 text.',
      });
    }
    yield block;
  }
}

/** @throws WorkbenchError `data` for a line of more than 2^20 characters */
export function throwIfTooLong(line: string, file: string, number: number): void {
  if (line.length > longestLine) throw tooLong(file, number);
}

/** True if this many bytes can exceed the maximum number of characters. */
export const mayBeTooLong = (bytes: number): boolean => bytes > longestLine;

/** Blocks that end at a line end, or at the end of the file. */
async function* blocksOf(file: string, what: string, linesBefore: () => number): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let atStart = true;
  const cut = (length: number) => {
    const marked = atStart && rest[0] === 0xef && rest[1] === 0xbb && rest[2] === 0xbf;
    const block = rest.subarray(marked ? 3 : 0, length);
    atStart = false;
    rest = rest.subarray(length);
    return block;
  };
  try {
    for await (const chunk of chunksOf(file)) {
      const before = rest.length;
      rest = before === 0 ? chunk : Buffer.concat([rest, chunk]);
      const length = chunk.lastIndexOf(lineFeed) + 1;
      if (length > 0) yield cut(before + length);
      if (rest.length > longestLineBytes) throw tooLong(file, linesBefore() + 1);
    }
  } catch (cause) {
    if (cause instanceof WorkbenchError) throw cause;
    throw unreadable(file, what, linesBefore(), cause as NodeJS.ErrnoException);
  }
  if (rest.length > 0) yield cut(rest.length);
}

function chunksOf(file: string): AsyncIterable<Buffer> {
  refuseSpecial(file, 'a file');
  const packed = file.endsWith('.gz');
  const raw = createReadStream(file, { highWaterMark: packed ? 1 << 18 : 1 << 20 });
  return packed ? pipeline(raw, createGunzip({ chunkSize: 1 << 18 }), () => {}) : raw;
}

/** Line number (from 1) of the first line that is not UTF-8. */
function firstBadLine(block: Buffer): number {
  let line = 1;
  for (let start = 0; start < block.length; line++) {
    const end = block.indexOf(lineFeed, start);
    if (end < 0 || !isUtf8(block.subarray(start, end))) break;
    start = end + 1;
  }
  return line;
}

function tooLong(file: string, line: number): WorkbenchError {
  const message = `expected lines of at most ${longestLine} characters, got a longer one, at ${file}:${line}`;
  return new WorkbenchError('data', message, { hint: 'Is this the right file? Its lines have to end in LF or CRLF.' });
}

function unreadable(file: string, what: string, lines: number, cause: NodeJS.ErrnoException): WorkbenchError {
  if (cause.code === 'ENOENT') {
    return new WorkbenchError('data', `expected a file of ${what}, got none, at ${file}`, { cause });
  }
  const hint = file.endsWith('.gz') ? 'The archive may be cut short: copy it again.' : 'Check the file.';
  const got = `"${cause.message}", at ${file}, after line ${lines}`;
  return new WorkbenchError('data', `expected readable UTF-8 ${what}, got ${got}`, { hint, cause });
}
