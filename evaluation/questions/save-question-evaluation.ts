/** An evaluation of questions as files: no wall clock, so that equal evaluations are equal bytes. */
import { writeFileAtomic } from '../../src/run/files.js';
import type { QuestionRow } from '../../src/run/question-records.js';
import type { QuestionAttempt } from './ask-questions.js';
import type { EvaluationFiles } from './evaluation-folder.js';
import type { QuestionEvaluation } from './evaluate-questions.js';

/** Writes rows, traces, examples, the Arrow table and, last, the record. */
export async function saveQuestionEvaluation(
  files: Pick<EvaluationFiles, 'answers' | 'traces' | 'examples' | 'rows' | 'evaluation'>,
  { record, rows, attempts, examples }: QuestionEvaluation,
): Promise<void> {
  writeFileAtomic(files.answers, chunksOf(rows.map(rowLine)));
  writeFileAtomic(files.traces, chunksOf(rows.map(({ id }, i) => traceLine(id, attempts[i]!))));
  writeFileAtomic(files.examples, examples.map((example) => `${JSON.stringify(example)}\n`).join(''));
  writeFileAtomic(files.rows, await arrowOf(rows));
  writeFileAtomic(files.evaluation, recordText(record));
}

/** A line of `answers.jsonl`. */
export const rowLine = (row: QuestionRow): string => `${JSON.stringify(row)}\n`;

/** A line of `traces.jsonl`. */
export const traceLine = (id: string, { trace, calls }: Pick<QuestionAttempt, 'trace' | 'calls'>): string =>
  `${JSON.stringify({ id, trace, calls })}\n`;

/** The text of `evaluation.json`. */
export const recordText = (record: QuestionEvaluation['record']): string => `${JSON.stringify(record, null, 2)}\n`;

/**
 * Rows as an Arrow IPC file: `id`, `subset`, `type`, `form`, `stop`, `miss` (utf8, empty for none), `hit1` … `complete` and
 * `accuracy` (float64, NaN where the figure does not apply), `calls`, tokens and `golds` (int32), flags (bool).
 */
export async function arrowOf(rows: readonly QuestionRow[]): Promise<Uint8Array> {
  const arrow = await import('apache-arrow');
  const int = (of: (row: QuestionRow) => number) => arrow.makeVector(Int32Array.from(rows, of));
  const metric = (key: string) => arrow.makeVector(Float64Array.from(rows, ({ metrics }) => metrics[key] ?? NaN));
  const words = (of: (row: QuestionRow) => string) => arrow.vectorFromArray(rows.map(of), new arrow.Utf8());
  const flags = (of: (row: QuestionRow) => boolean) => arrow.vectorFromArray(rows.map(of), new arrow.Bool());
  const table = new arrow.Table({
    id: words(({ id }) => id),
    subset: words(({ subset }) => subset),
    type: words(({ type }) => type ?? ''),
    form: words(({ form }) => form),
    golds: int(({ golds }) => golds),
    hit1: metric('hit@1'),
    hit_any: metric('hit-any'),
    precision: metric('precision'),
    recall: metric('recall'),
    f1: metric('f1'),
    exact: metric('exact'),
    partial: metric('partial'),
    complete: metric('complete'),
    accuracy: metric('accuracy'),
    calls: int(({ calls }) => calls),
    prompt_tokens: int(({ promptTokens }) => promptTokens),
    cached_tokens: int(({ cachedTokens }) => cachedTokens),
    completion_tokens: int(({ completionTokens }) => completionTokens),
    graph_reads: int(({ graphReads }) => graphReads),
    reachable: flags(({ reachable }) => reachable),
    abstained: flags(({ abstained }) => abstained),
    unparsed: flags(({ unparsed }) => unparsed),
    degraded: flags(({ degraded }) => degraded),
    at_cap: flags(({ atCap }) => atCap),
    stop: words(({ stop }) => stop),
    miss: words(({ miss }) => miss ?? ''),
  });
  return arrow.tableToIPC(table, 'file');
}

/** Bytes in pieces of some megabytes: the lines of a large evaluation joined would be one huge string. */
function chunksOf(lines: readonly string[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let begin = 0; begin < lines.length; begin += 1000) {
    chunks.push(Buffer.from(lines.slice(begin, begin + 1000).join('')));
  }
  return chunks;
}
