/** Reading text files of any size, one line at a time. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { WorkbenchError } from '../run/errors.js';

/**
 * Streams the lines of a UTF-8 file, unpacked when its name ends in `.gz`, without their line ends (LF or CRLF) and without a
 * byte order mark. Memory does not grow with the file.
 * @param what what the file is to the user, such as `triples`
 * @param take receives each line, empty ones too, with its number from 1; the text may share memory with a chunk of the file
 * @throws WorkbenchError `data` naming file and line for bytes that are not UTF-8, a damaged archive, an unreadable or missing
 * file; and whatever `take` throws
 */
export async function readLines(file: string, what: string, take: (text: string, line: number) => void): Promise<void> {
  let line = 0;
  const give = (text: string) => take(text.endsWith('\r') ? text.slice(0, -1) : text, ++line);
  let rest = '';
  try {
    for await (const text of decodedChunks(file)) {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const one of lines) give(one);
    }
  } catch (cause) {
    if (cause instanceof WorkbenchError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new WorkbenchError('data', `expected a file of ${what}, got none, at ${file}`, { cause });
    const where = `${file}, after line ${line}`;
    throw new WorkbenchError('data', `expected readable UTF-8 ${what}, got "${message}", at ${where}`, {
      hint: file.endsWith('.gz') ? 'The archive may be cut short: copy it again.' : 'Save the file as UTF-8 text.',
      cause,
    });
  }
  if (rest !== '') give(rest);
}

async function* decodedChunks(file: string): AsyncGenerator<string> {
  const raw = createReadStream(file, { highWaterMark: 1 << 18 });
  const bytes = file.endsWith('.gz') ? pipeline(raw, createGunzip({ chunkSize: 1 << 18 }), () => {}) : raw;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) yield decoder.decode(chunk as Buffer, { stream: true });
  yield decoder.decode();
}
