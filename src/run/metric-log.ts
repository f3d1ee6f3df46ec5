/** `metrics.jsonl` while a run is going, and the same records as Arrow and CSV. */
import { memoryUsage } from 'node:process';
import type { Dictionary as ArrowDictionary, Utf8 } from 'apache-arrow';
import { writeFileAtomic } from './files.js';
import { type JsonLines, openJsonLines, readJsonLines } from './json-lines.js';
import { csvCell } from './printable.js';
import { metricRecord, timingRecord } from './record-schemas.js';
import type { MetricRecord, TimingRecord } from './records.js';

/** An open `metrics.jsonl`; close it after use. */
interface MetricLog extends Omit<JsonLines, 'append'> {
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

/** An open `timing.jsonl`; close it after use. */
export interface TimingLog {
  /**
   * Appends seconds since the phase's previous record (or since the log was opened) and resident memory, on disk at once.
   * @param figures what was counted since the previous record, such as `{ 'time/env_steps': 512 }`
   */
  record(phase: string, step: number, figures?: Record<string, number>): TimingRecord;
  /** Bytes of an unfinished last line, left by a crash, that opening cut off. */
  readonly tornBytes: number;
  close(): void;
}

/** Opens the timing of a run for appending. @param now seconds of a monotonic clock */
export function openTimingLog(file: string, now: () => number = () => performance.now() / 1000): TimingLog {
  const lines = openJsonLines(file);
  let previous = now();
  return {
    tornBytes: lines.tornBytes,
    record(phase, step, figures = {}) {
      const seconds = Math.round((now() - previous) * 1000) / 1000;
      previous = now();
      const record = { phase, step, seconds, rss_mb: Math.round(memoryUsage.rss() / 2 ** 20), ...figures };
      lines.append(record);
      lines.flush();
      return record;
    },
    close: lines.close,
  };
}

/** All timing records in the order they were logged; empty for a run that has none yet. */
export function readTimings(file: string): TimingRecord[] {
  return readJsonLines(file, timingRecord);
}
