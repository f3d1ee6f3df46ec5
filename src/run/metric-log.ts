/** `metrics.jsonl` while a run is going, and the same records as Arrow and CSV. */
import type { Dictionary as ArrowDictionary, Utf8 } from 'apache-arrow';
import { csvCell } from './csv.js';
import { writeFileAtomic } from './files.js';
import { openJsonLines, readJsonLines } from './json-lines.js';
import type { JsonLines } from './json-lines.js';
import { metricRecord } from './record-schemas.js';
import type { MetricRecord } from './records.js';

/** An open `metrics.jsonl`; close it after use. */
export interface MetricLog extends Omit<JsonLines, 'append'> {
  /** @param metrics figures under their full keys, such as `train/approx_kl`; NaN is kept and seen */
  append(phase: string, step: number, metrics: Record<string, number>): void;
}

/** Opens the metrics of a run for appending. Lines are in memory until `flush`, which belongs before every checkpoint. */
export function openMetricLog(file: string): MetricLog {
  const lines = openJsonLines(file);
  return {
    ...lines,
    append(phase, step, metrics) {
      lines.append({ phase, step, metrics } satisfies MetricRecord);
    },
  };
}

/** All records in the order they were logged. @throws WorkbenchError `data` for a file that is missing or broken */
export function readMetrics(file: string): MetricRecord[] {
  return readJsonLines(file, metricRecord);
}

/** One figure of one record: the shape of a row in Arrow and CSV. */
interface MetricRow {
  phase: string;
  step: number;
  key: string;
  value: number;
}

function rowsOf(records: readonly MetricRecord[]): MetricRow[] {
  return records.flatMap(({ phase, step, metrics }) =>
    Object.entries(metrics).map(([key, value]) => ({ phase, step, key, value })),
  );
}

/**
 * Writes the records as an Arrow IPC file: columns phase (dictionary of utf8), step (int32), key (dictionary of utf8),
 * value (float64). Equal records give equal bytes.
 */
export async function writeMetricsArrow(metricsFile: string, arrowFile: string): Promise<void> {
  const arrow = await import('apache-arrow');
  const rows = rowsOf(readMetrics(metricsFile));
  // Explicit dictionary ids: the library's own counter would make the bytes depend on what was written before.
  const names = (id: number) => new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32(), id);
  const words = (type: ArrowDictionary<Utf8>, values: string[]) => arrow.vectorFromArray(values, type);
  const table = new arrow.Table({
    phase: words(
      names(0),
      rows.map(({ phase }) => phase),
    ),
    step: arrow.makeVector(Int32Array.from(rows, ({ step }) => step)),
    key: words(
      names(1),
      rows.map(({ key }) => key),
    ),
    value: arrow.makeVector(Float64Array.from(rows, ({ value }) => value)),
  });
  writeFileAtomic(arrowFile, arrow.tableToIPC(table, 'file'));
}

/** Writes the records as CSV with the header `phase,step,key,value`; not-a-number is written `NaN`. */
export function exportCsv(metricsFile: string, csvFile: string): void {
  const lines = rowsOf(readMetrics(metricsFile)).map(({ phase, step, key, value }) =>
    [phase, step, key, value].map(csvCell).join(','),
  );
  writeFileAtomic(csvFile, `${['phase,step,key,value', ...lines].join('\n')}\n`);
}
