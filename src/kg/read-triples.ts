/** Streaming reader for triple files of any size. */
import { Readable } from 'node:stream';
import type { CsvError, Info } from 'csv-parse';
import { WorkbenchError } from '../run/errors.js';
import { printable } from '../run/printable.js';
import { mayBeTooLong, readLineBlocks, textBlocks, throwIfTooLong } from './read-lines.js';

/** Field separator, and handling of broken lines. */
export interface ReadTriplesOptions {
  /** Field separator. Default TAB; MetaQA's `kb.txt` uses `|`. */
  separator?: string;
  /** Other lines than a head, relation and tail each; read by `csv-parse`. */
  layout?: LineLayout | undefined;
  /** Drop and count lines with a blank field instead of failing. Default false. */
  dropBlank?: boolean;
  /** Receives each broken line, which is skipped. Default: throw at the first one. */
  onProblem?: (line: number, problem: string) => void;
}

/** Lines with a header, other columns, or marks around names. */
export interface LineLayout {
  fields: number;
  /** Places of head, relation and tail among them, from 0. */
  columns: readonly number[];
  /** Lines before the first triple. */
  header: number;
  /** CSV: a field in `"` may hold separators, line ends and doubled quotes. */
  quotes: boolean;
  /** Names in `<` and `>` are read without them. */
  brackets: boolean;
}

/** Line counts. */
export interface TripleReport {
  /** Triples passed to the sink. */
  triples: number;
  /** Lines dropped for a blank field, only with `dropBlank`. */
  blank: number;
}

/** Receives each triple by name, with its line number from 1. */
export type TripleSink = (head: string, relation: string, tail: string, line: number) => void;

/** Batch of triples as UTF-8 in file order; the arrays are reused for the next batch. */
interface TripleBatch {
  size: number;
  bytes: Buffer;
  /** int32 [4 · size]: begin and end of each head and tail in `bytes`. */
  entities: Int32Array;
  /** int32 [2 · size]: begin and end of each relation. */
  relations: Int32Array;
  /** [size]: line numbers, from 1. */
  lines: Float64Array;
}

/** Triples per batch: enough for memory fetches to overlap, few enough for the cache. */
const batchSize = 256;

/**
 * Streams a triple file (unpacked if its name ends in `.gz`). Memory does not grow with the file. Empty lines are skipped.
 * @throws WorkbenchError `data` with file and line: field count other than three, blank field (unless dropped), invalid UTF-8, damaged
 * archive, unreadable file; and anything thrown by the sink
 */
export async function readTriples(file: string, options: ReadTriplesOptions, sink: TripleSink): Promise<TripleReport> {
  return readTripleBatches(file, options, ({ size, bytes, entities, relations, lines }) => {
    for (let i = 0; i < size; i++) {
      const head = bytes.toString('utf8', entities[4 * i], entities[4 * i + 1]);
      const relation = bytes.toString('utf8', relations[2 * i], relations[2 * i + 1]);
      sink(head, relation, bytes.toString('utf8', entities[4 * i + 2], entities[4 * i + 3]), lines[i]!);
    }
  });
}

/** Like `readTriples`, with bytes instead of strings. Triples before a broken line are passed on before that line is reported. */
export async function readTripleBatches(
  file: string,
  { separator = '\t', layout, dropBlank = false, onProblem }: ReadTriplesOptions,
  sink: (batch: TripleBatch) => void,
): Promise<TripleReport> {
  const report: TripleReport = { triples: 0, blank: 0 };
  const batch: TripleBatch = {
    size: 0,
    bytes: Buffer.alloc(0),
    entities: new Int32Array(4 * batchSize),
    relations: new Int32Array(2 * batchSize),
    lines: new Float64Array(batchSize),
  };
  const flush = () => {
    if (batch.size > 0) sink(batch);
    batch.size = 0;
  };
  const refuse = (line: number, problem: string, hint: string) => {
    flush();
    if (!onProblem) throw new WorkbenchError('data', `${problem}, at ${file}:${line}`, { hint });
    onProblem(line, problem);
  };
  const between = Buffer.from(separator);
  const at = new Int32Array(7);
  const take = (blank: boolean, line: number, row: () => string) => {
    if (!blank) {
      report.triples++;
      addRow(batch, at, line);
      if (batch.size === batchSize) flush();
    } else if (dropBlank) report.blank++;
    else {
      const hint = 'Remove the line or name the missing entity or relation.';
      refuse(line, `expected 3 names, got a blank field (${excerpt(row())})`, hint);
    }
  };
  const refuseCount = (fields: number, got: number, line: number, row: string) =>
    refuse(
      line,
      `expected ${fields} fields, got ${got} (${excerpt(row)})`,
      `Each line has ${fields} fields, separated by ${JSON.stringify(separator)}.`,
    );
  if (layout) {
    await readRecords(file, separator, layout, onProblem, (record, line) => {
      const { fields, columns, brackets } = layout;
      if (record.length !== fields) return refuseCount(fields, record.length, line, record.join(separator));
      const names = columns.map((place) => (brackets ? record[place]!.replace(/^<(.+)>$/s, '$1') : record[place]!));
      batch.bytes = Buffer.from(names.join(''));
      let end = 0;
      names.forEach((name, i) => at.set([end, (end += Buffer.byteLength(name))], 2 * i));
      take(
        names.some((name) => name.trim() === ''),
        line,
        () => record.join(separator),
      );
      flush();
    });
    return report;
  }
  await readLineBlocks(file, 'triples', (block, firstLine) => {
    batch.bytes = block;
    let line = firstLine;
    for (let start = 0; start < block.length; line++) {
      const from = start;
      const fields = findFields(block, from, between, at);
      const end = at[5]!;
      start = at[6]!;
      const row = () => block.toString('utf8', from, end);
      if (mayBeTooLong(end - from)) throwIfTooLong(row(), file, line);
      if (end === from) continue;
      if (fields !== 3) refuseCount(3, fields, line, row());
      else {
        const blank = isBlank(block, at[0]!, at[1]!) || isBlank(block, at[2]!, at[3]!) || isBlank(block, at[4]!, end);
        take(blank, line, row);
      }
    }
    // The buffer is reused for the next block.
    flush();
    return line - firstLine;
  });
  return report;
}

/** Records of a file with the line on which each ends. */
async function readRecords(
  file: string,
  delimiter: string,
  { header, quotes }: LineLayout,
  onProblem: ReadTriplesOptions['onProblem'],
  take: (record: string[], line: number) => void,
): Promise<void> {
  const { parse } = await import('csv-parse');
  const records = parse({
    ...{ delimiter, quote: quotes ? '"' : null, from_line: header + 1, info: true, max_record_size: 2 ** 20 },
    ...{ relax_column_count: true, relax_quotes: true, skip_empty_lines: true },
    skip_records_with_error: onProblem !== undefined,
  });
  const problemOf = ({ message }: Error) => `expected CSV, got "${printable(message, 100)}"`;
  records.on('skip', (error: CsvError) => onProblem?.(error.lines as number, problemOf(error)));
  const source = Readable.from(textBlocks(file, 'triples', () => records.info.lines - 1));
  source.on('error', (error) => records.destroy(error));
  try {
    for await (const { record, info } of source.pipe(records) as AsyncIterable<{ record: string[]; info: Info }>) {
      take(record, info.lines);
    }
  } catch (cause) {
    if (cause instanceof WorkbenchError) throw cause;
    throw new WorkbenchError('data', `${problemOf(cause as CsvError)}, at ${file}:${records.info.lines}`, {
      hint: 'A field with a separator stands in quotes; quotes inside it are doubled.',
      cause,
    });
  }
}

function addRow(batch: TripleBatch, at: Int32Array, line: number): void {
  const { entities, relations, lines } = batch;
  const row = batch.size++;
  entities[4 * row] = at[0]!;
  entities[4 * row + 1] = at[1]!;
  relations[2 * row] = at[2]!;
  relations[2 * row + 1] = at[3]!;
  entities[4 * row + 2] = at[4]!;
  entities[4 * row + 3] = at[5]!;
  lines[row] = line;
}

/**
 * Finds the fields of the line that begins at `start`.
 * @param at output: begin and end of the first three fields (the last ends at the line's end), then the start of the next line
 * @returns number of fields
 */
function findFields(block: Buffer, start: number, separator: Buffer, at: Int32Array): number {
  const width = separator.length;
  const mark = separator[0];
  let fields = 1;
  let i = start;
  at[0] = start;
  for (; i < block.length; i++) {
    const byte = block[i]!;
    if (byte === lineFeed) break;
    if (byte !== mark || (width > 1 && !separator.equals(block.subarray(i, i + width)))) continue;
    if (fields < 3) {
      at[2 * fields - 1] = i;
      at[2 * fields] = i + width;
    }
    fields++;
    i += width - 1;
  }
  at[5] = i > start && block[i - 1] === carriageReturn ? i - 1 : i;
  at[6] = i + 1;
  return fields;
}

/** True for a white-space name; the first byte decides almost always. */
function isBlank(block: Buffer, from: number, to: number): boolean {
  const first = from < to ? block[from]! : 0;
  if (first > 0x20 && !leadsWhiteSpace.has(first)) return false;
  return block.toString('utf8', from, to).trim() === '';
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** First bytes of non-ASCII white space: U+00A0, U+1680, U+2000 and following, U+3000, U+FEFF. */
const leadsWhiteSpace = new Set([0xc2, 0xe1, 0xe2, 0xe3, 0xef]);

const excerpt = (row: string) => printable(JSON.stringify(row), 80);
