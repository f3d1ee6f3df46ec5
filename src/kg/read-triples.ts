/** Reading triple files of any size, one triple at a time. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { WorkbenchError } from '../run/errors.js';
import { printable } from '../run/printable.js';

export interface ReadTriplesOptions {
  /** Between the three fields. Default TAB; MetaQA's `kb.txt` uses `|`. */
  separator?: string;
  /** Drop and count lines with a blank field instead of failing on them. Default false. */
  dropBlank?: boolean;
}

export interface TripleReport {
  /** Triples given to the sink. */
  triples: number;
  /** Lines dropped for a blank field, only with `dropBlank`. */
  blank: number;
}

/**
 * Receives each triple by name, with its line number from 1. The names may share memory with a chunk of the file:
 * whoever keeps one copies it (`GraphBuilder` does).
 */
export type TripleSink = (head: string, relation: string, tail: string, line: number) => void;

/**
 * Streams a triple file, unpacked when its name ends in `.gz`. Memory does not grow with the file. Empty lines are skipped.
 * @throws WorkbenchError `data` naming file and line: a field count other than three, a blank field (unless dropped),
 * bytes that are not UTF-8, a damaged archive, an unreadable file; and whatever the sink throws
 */
export async function readTriples(
  file: string,
  { separator = '\t', dropBlank = false }: ReadTriplesOptions,
  sink: TripleSink,
): Promise<TripleReport> {
  const report: TripleReport = { triples: 0, blank: 0 };
  let line = 0;
  const take = (text: string) => {
    line++;
    const row = text.endsWith('\r') ? text.slice(0, -1) : text;
    if (row === '') return;
    const fields = row.split(separator);
    const [head, relation, tail] = fields;
    if (fields.length !== 3) {
      throw new WorkbenchError(
        'data',
        `expected 3 fields, got ${fields.length} (${excerpt(row)}), at ${file}:${line}`,
        {
          hint: `Each line is head, relation and tail separated by ${JSON.stringify(separator)}.`,
        },
      );
    }
    if (head!.trim() === '' || relation!.trim() === '' || tail!.trim() === '') {
      if (!dropBlank) {
        throw new WorkbenchError('data', `expected 3 names, got a blank field (${excerpt(row)}), at ${file}:${line}`, {
          hint: 'Remove the line or name the missing entity or relation.',
        });
      }
      report.blank++;
      return;
    }
    report.triples++;
    sink(head!, relation!, tail!, line);
  };

  let rest = '';
  try {
    for await (const text of decodedChunks(file)) {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const one of lines) take(one);
    }
  } catch (cause) {
    if (cause instanceof WorkbenchError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new WorkbenchError('data', `expected a triple file, got none, at ${file}`, { cause });
    const where = `${file}, after line ${line}`;
    throw new WorkbenchError('data', `expected readable UTF-8 triples, got "${message}", at ${where}`, {
      hint: file.endsWith('.gz') ? 'The archive may be cut short: copy it again.' : 'Save the file as UTF-8 text.',
      cause,
    });
  }
  if (rest !== '') take(rest);
  return report;
}

async function* decodedChunks(file: string): AsyncGenerator<string> {
  const raw = createReadStream(file, { highWaterMark: 1 << 18 });
  const bytes = file.endsWith('.gz') ? pipeline(raw, createGunzip({ chunkSize: 1 << 18 }), () => {}) : raw;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) yield decoder.decode(chunk as Buffer, { stream: true });
  yield decoder.decode();
}

const excerpt = (row: string) => printable(JSON.stringify(row), 80);
