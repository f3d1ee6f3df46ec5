/** Rows of an evaluation as an Arrow IPC file, for anyone's own analysis. */
import { writeFileAtomic } from '../src/run/files.js';
import type { Outcome } from './outcome.js';

/**
 * Writes one row a sample. Columns: `id`, `dialogue`, `sender`, `miss` (utf8, empty where the gold was ranked), `hops`,
 * `path`, `entity_path`, `relation_path`, `target`, `target_sum` (int32 ranks from 1, 0 = absent), `seen`, `first` (bool),
 * `log_prob`, `confidence` (float64, of the best path; NaN where absent). Equal rows give equal bytes.
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
  });
  writeFileAtomic(file, arrow.tableToIPC(table, 'file'));
}
