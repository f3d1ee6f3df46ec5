/** Where a run writes what happens: metrics without a clock, timing with one, TensorBoard beside them if asked. */
import type { LogMark } from '../src/run/json-lines.js';
import { openMetricLog, openTimingLog, readMetrics } from '../src/run/metric-log.js';
import type { MetricRecord, Phase } from '../src/run/records.js';
import type { Run } from '../src/run/run-folder.js';
import { type EventFile, keepEvents, openEventFile } from '../src/run/tensorboard.js';

/** The open logs of a run; close them after use. */
export interface RunLogs {
  /** One record; `eval/…` of a step comes in a record of its own. */
  metrics(phase: Phase, step: number, values: Record<string, number>): void;
  /** Wall clock since the phase's last record, memory, and other figures. */
  timing(phase: Phase, step: number, figures?: Record<string, number>): void;
  /** Puts metrics on disk. @returns what is there, for a checkpoint */
  flush(): Required<LogMark>;
  /** @throws WorkbenchError `data` where the metrics before a checkpoint are not all there, or were altered */
  check(mark: LogMark): void;
  /** Checks, and forgets metrics that were logged after a checkpoint, in TensorBoard's files too. */
  truncateAfter(mark: LogMark): void;
  close(): void;
}

/** @param onTorn told how many bytes of an unfinished last line were cut off each log; 0 where it was whole */
export function openRunLogs(run: Run, tensorboard: boolean, onTorn?: (file: string, bytes: number) => void): RunLogs {
  const metricLog = openMetricLog(run.files.metrics);
  const timingLog = openTimingLog(run.files.timing);
  let events: EventFile | undefined;
  onTorn?.(run.files.metrics, metricLog.tornBytes);
  onTorn?.(run.files.timing, timingLog.tornBytes);
  return {
    metrics(phase, step, values) {
      metricLog.append(phase, step, values);
      if (!tensorboard) return;
      events ??= openEventFile(run.files.tensorboard);
      for (const { tag, value } of scalarsOf([{ phase, step, metrics: values }])) events.scalar(tag, step, value);
    },
    timing: (phase, step, figures) => timingLog.record(phase, step, figures),
    flush: () => metricLog.flush(),
    check: (mark) => metricLog.check(mark),
    truncateAfter(mark) {
      metricLog.truncateAfter(mark);
      if (tensorboard) keepEvents(run.files.tensorboard, scalarsOf(readMetrics(run.files.metrics)));
    },
    close() {
      metricLog.close();
      timingLog.close();
      events?.close();
    },
  };
}

/** The metrics as TensorBoard names them. */
function scalarsOf(records: readonly MetricRecord[]) {
  return records.flatMap(({ phase, step, metrics }) =>
    Object.entries(metrics).map(([key, value]) => ({ tag: `${phase}/${key}`, step, value })),
  );
}
