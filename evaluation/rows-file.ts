/** Rows of an evaluation as an Arrow IPC file, for anyone's own analysis. */
import type { Bool, Int32, Utf8 } from 'apache-arrow';
import { readFileSync } from 'node:fs';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import type { Outcome } from './outcome.js';

/**
 * Writes one row a sample. Columns: `id`, `dialogue`, `sender`, `miss` (utf8, empty where the gold was ranked), `hops`,
 * `path`, `entity_path`, `relation_path`, `target`, `target_sum` (int32 ranks from 1, 0 = absent), `seen`, `first` (bool),
 * `log_prob`, `confidence` (float64, of the best path; NaN where absent). Where it was counted as LLM-ARK's reference does, also
 * `ark_path`, `ark_target`, `target_any`. Equal rows give equal bytes.
 */
export async function writeRowsArrow(file: string, rows: readonly Outcome[]): Promise<void> {
  const arrow = await import('apache-arrow');
  const int = (of: (row: Outcome) => number) => arrow.makeVector(Int32Array.from(rows, of));
  const float = (of: (row: Outcome) => number) => arrow.makeVector(Float64Array.from(rows, of));
  const words = (of: (row: Outcome) => string) => arrow.vectorFromArray(rows.map(of), new arrow.Utf8());
  const flags = (of: (row: Outcome) => boolean) => arrow.vectorFromArray(rows.map(of), new arrow.Bool());
  const table = new arrow.Table({
    id: words(({ id }) => id),
    dialogue: words(({ dialogue }) => dialogue),
    sender: words(({ sender }) => sender),
    hops: int(({ hops }) => hops),
    seen: flags(({ seen }) => seen),
    first: flags(({ first }) => first),
    path: int(({ path }) => path),
    entity_path: int(({ entityPath }) => entityPath),
    relation_path: int(({ relationPath }) => relationPath),
    target: int(({ target }) => target),
    target_sum: int(({ summedTarget }) => summedTarget),
    miss: words(({ miss }) => miss ?? ''),
    log_prob: float(({ logProb }) => logProb),
    confidence: float(({ confidence }) => confidence),
    ...(rows[0]?.ark && {
      ark_path: int(({ ark }) => ark!.path),
      ark_target: int(({ ark }) => ark!.target),
      target_any: int(({ ark }) => ark!.anyTarget),
    }),
  });
  writeFileAtomic(file, arrow.tableToIPC(table, 'file'));
}

/** Of each row, what a slice by seen targets is made of. @throws WorkbenchError `data` for a file that is not such a table */
export async function readTargetRows(file: string): Promise<Pick<Outcome, 'dialogue' | 'seen' | 'path'>[]> {
  const arrow = await import('apache-arrow');
  try {
    const table = arrow.tableFromIPC<{ dialogue: Utf8; seen: Bool; path: Int32 }>(readFileSync(file));
    return table.toArray().map(({ dialogue, seen, path }) => ({ dialogue, seen, path }));
  } catch (cause) {
    throw new WorkbenchError('data', `expected the rows of an evaluation, got another file, at ${file}`, { cause });
  }
}
