/** Reading text files of any size, one line at a time. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { WorkbenchError } from '../run/errors.js';

/** Characters of the longest line that is read: no triple has so many, and no expression over a line may grow with a file. */
const longestLine = 2 ** 20;

/**
 * Streams the lines of a UTF-8 file, unpacked when its name ends in `.gz`, without their line ends (LF or CRLF) and without a
 * byte order mark. Memory does not grow with the file, nor with what an archive unpacks to.
 * @param what what the file is to the user, such as `triples`
 * @param take receives each line, empty ones too, with its number from 1; the text may share memory with a chunk of the file
 * @throws WorkbenchError `data` naming file and line for bytes that are not UTF-8, a line of more than 2^20 characters, a damaged
 * archive, an unreadable or missing file; and whatever `take` throws
 */
export async function readLines(file: string, what: string, take: (text: string, line: number) => void): Promise<void> {
  let line = 0;
  const give = (text: string) => {
    line++;
    if (text.length > longestLine) throw tooLong(file, line);
    take(text.endsWith('\r') ? text.slice(0, -1) : text, line);
  };
  let rest = '';
  try {
    for await (const text of decodedChunks(file)) {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const one of lines) give(one);
      if (rest.length > longestLine) throw tooLong(file, line + 1);
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

function tooLong(file: string, line: number): WorkbenchError {
  return new WorkbenchError(
    'data',
    `expected lines of at most ${longestLine} characters, got a longer one, at ${file}:${line}`,
    { hint: 'Is this the right file? Its lines have to end in LF or CRLF.' },
  );
}

async function* decodedChunks(file: string): AsyncGenerator<string> {
  const raw = createReadStream(file, { highWaterMark: 1 << 18 });
  const bytes = file.endsWith('.gz') ? pipeline(raw, createGunzip({ chunkSize: 1 << 18 }), () => {}) : raw;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) yield decoder.decode(chunk as Buffer, { stream: true });
  yield decoder.decode();
}
