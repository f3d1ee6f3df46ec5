/** Reading triple files of any size, one triple at a time. */
import { WorkbenchError } from '../run/errors.js';
import { printable } from '../run/printable.js';
import { readLines } from './read-lines.js';

/** How lines are cut, and what happens to broken ones. */
export interface ReadTriplesOptions {
  /** Between the three fields. Default TAB; MetaQA's `kb.txt` uses `|`. */
  separator?: string;
  /** Drop and count lines with a blank field instead of failing on them. Default false. */
  dropBlank?: boolean;
  /** Told what is wrong with a line, which is then skipped. Default: the first one is thrown. */
  onProblem?: (line: number, problem: string) => void;
}

/** How many lines became triples. */
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
  { separator = '\t', dropBlank = false, onProblem }: ReadTriplesOptions,
  sink: TripleSink,
): Promise<TripleReport> {
  const report: TripleReport = { triples: 0, blank: 0 };
  const refuse = (line: number, problem: string, hint: string) => {
    if (!onProblem) throw new WorkbenchError('data', `${problem}, at ${file}:${line}`, { hint });
    onProblem(line, problem);
  };
  await readLines(file, 'triples', (row, line) => {
    if (row === '') return;
    const fields = row.split(separator);
    const [head, relation, tail] = fields;
    if (fields.length !== 3) {
      const hint = `Each line is head, relation and tail separated by ${JSON.stringify(separator)}.`;
      refuse(line, `expected 3 fields, got ${fields.length} (${excerpt(row)})`, hint);
    } else if (head!.trim() === '' || relation!.trim() === '' || tail!.trim() === '') {
      if (dropBlank) report.blank++;
      else {
        const hint = 'Remove the line or name the missing entity or relation.';
        refuse(line, `expected 3 names, got a blank field (${excerpt(row)})`, hint);
      }
    } else {
      report.triples++;
      sink(head!, relation!, tail!, line);
    }
  });
  return report;
}

const excerpt = (row: string) => printable(JSON.stringify(row), 80);
