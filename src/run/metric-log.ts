/** Logs of a run: `metrics.jsonl`, the same records as Arrow and CSV, and `timing.jsonl`. */
import { cpuUsage, memoryUsage } from 'node:process';
import { loadArrow } from './arrow.js';
import { writeFileAtomic } from './files.js';
import { openJsonLines, readJsonLines } from './json-lines.js';
import { csvCell } from './printable.js';
import { metricRecord, type MetricRecord, timingRecord, type TimingRecord } from './records.js';

/** Milliseconds of processor time, of all threads, in records of `timing.jsonl`. */
export const cpuFigure = 'time/cpu_ms';

/** Processor time of this process and its threads until now, in milliseconds. */
export function usedCpu(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/** Maximum delay of a line in memory, in milliseconds, for programs that follow the log. */
const longestWait = 1000;

/** Opens the metrics of a run. Lines stay in memory for about a second; call `flush` before every checkpoint. */
export function openMetricLog(file: string) {
  const lines = openJsonLines(file);
  let flushed = performance.now();
  return {
    ...lines,
    /** @param metrics figures under their full keys, such as `train/approx_kl`; NaN is kept */
    append(phase: string, step: number, metrics: Record<string, number>): void {
      lines.append({ phase, step, metrics } satisfies MetricRecord);
      if (performance.now() - flushed < longestWait) return;
      lines.flush();
      flushed = performance.now();
    },
  };
}

/** All records in logging order. @throws WorkbenchError `data` for a missing or broken file */
export const readMetrics = (file: string): MetricRecord[] => readJsonLines(file, metricRecord);

function rowsOf(metricsFile: string) {
  return readMetrics(metricsFile).flatMap(({ phase, step, metrics }) =>
    Object.entries(metrics).map(([key, value]) => ({ phase, step, key, value })),
  );
}

/**
 * Writes the records as Arrow IPC: phase and key (dictionaries of utf8), step (int32), value (float64). Equal records give equal bytes.
 */
export function writeMetricsArrow(metricsFile: string, arrowFile: string): void {
  const arrow = loadArrow();
  const rows = rowsOf(metricsFile);
  // Explicit dictionary ids: the library's counter would make the bytes depend on earlier writes.
  const words = (id: number, values: string[]) =>
    arrow.vectorFromArray(values, new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32(), id));
  const phases = rows.map(({ phase }) => phase);
  const keys = rows.map(({ key }) => key);
  const table = new arrow.Table({
    phase: words(0, phases),
    step: arrow.makeVector(Int32Array.from(rows, ({ step }) => step)),
    key: words(1, keys),
    value: arrow.makeVector(Float64Array.from(rows, ({ value }) => value)),
  });
  writeFileAtomic(arrowFile, arrow.tableToIPC(table, 'file'));
}

/** The records as CSV with the header `phase,step,key,value`; not-a-number is written `NaN`. */
export function metricsCsv(metricsFile: string): string {
  const rows = rowsOf(metricsFile).map(({ phase, step, key, value }) =>
    [phase, step, key, value].map(csvCell).join(','),
  );
  return `${['phase,step,key,value', ...rows].join('\n')}\n`;
}

/**
 * The records of a step as one row of CSV: phase, step, a column for each key, and seconds and environment steps since the beginning,
 * where they were recorded at this step; other cells without a value are empty.
 */
export function wideCsv(metrics: readonly MetricRecord[], timings: readonly TimingRecord[]): string {
  const rows = new Map<string, Record<string, string | number>>();
  const add = (phase: string, step: number, values: Record<string, number>) =>
    rows.set(`${phase} ${step}`, { phase, step, ...rows.get(`${phase} ${step}`), ...values });
  for (const { phase, step, metrics: values } of metrics) add(phase, step, values);
  let [seconds, env_steps] = [0, 0];
  for (const timing of timings) {
    seconds += timing.seconds;
    env_steps += Number(timing['time/env_steps'] ?? 0);
    add(timing.phase, timing.step, { seconds: Number(seconds.toFixed(3)), env_steps });
  }
  const head = [...new Set([...rows.values()].flatMap(Object.keys))];
  const lines = [...rows.values()].map((row) => head.map((key) => csvCell(row[key] ?? '')).join(','));
  return `${[head.map(csvCell).join(','), ...lines].join('\n')}\n`;
}

/**
 * Opens `timing.jsonl`: wall clock and memory, apart from metrics, which stay equal between equal runs.
 * @param now seconds of a monotonic clock
 */
export function openTimingLog(file: string, now: () => number = () => performance.now() / 1000) {
  const lines = openJsonLines(file);
  let previous = now();
  return {
    truncatedBytes: lines.truncatedBytes,
    /**
     * Appends seconds since the previous record (or since opening) and resident memory, flushed at once.
     * @param figures counts since the previous record, such as `{ 'time/env_steps': 512 }`
     */
    record(phase: string, step: number, figures: Record<string, number> = {}): TimingRecord {
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

/** An open `timing.jsonl`; close it after use. */
export type TimingLog = ReturnType<typeof openTimingLog>;

/** All timing records in logging order; empty for a run that has none yet. */
export const readTimings = (file: string): TimingRecord[] => readJsonLines(file, timingRecord);
