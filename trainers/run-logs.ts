/** Where a run writes what happens: metrics without a clock, timing with one, TensorBoard beside them if asked. */
import type { LogMark } from '../src/run/json-lines.js';
import { openMetricLog } from '../src/run/metric-log.js';
import type { Phase } from '../src/run/records.js';
import type { Run } from '../src/run/run-folder.js';
import { openEventFile } from '../src/run/tensorboard.js';
import { openTimingLog } from '../src/run/timing-log.js';

export interface RunLogs {
  /** One record; `eval/…` of a step comes in a record of its own. */
  metrics(phase: Phase, step: number, values: Record<string, number>): void;
  /** Wall clock since the phase's last record, memory, and other figures. */
  timing(phase: Phase, step: number, figures?: Record<string, number>): void;
  /** Puts metrics on disk. @returns what is there, for a checkpoint */
  flush(): Required<LogMark>;
  /** Forgets metrics that were logged after a checkpoint. @throws WorkbenchError `data` where those before it were altered */
  truncateAfter(mark: LogMark): void;
  close(): void;
}

/** @param onTorn told how many bytes of an unfinished last line were cut off each log; 0 where it was whole */
export function openRunLogs(run: Run, tensorboard: boolean, onTorn?: (file: string, bytes: number) => void): RunLogs {
  const metricLog = openMetricLog(run.files.metrics);
  const timingLog = openTimingLog(run.files.timing);
  const events = tensorboard ? openEventFile(run.files.tensorboard) : undefined;
  onTorn?.(run.files.metrics, metricLog.tornBytes);
  onTorn?.(run.files.timing, timingLog.tornBytes);
  return {
    metrics(phase, step, values) {
      metricLog.append(phase, step, values);
      for (const [key, value] of Object.entries(values)) events?.scalar(`${phase}/${key}`, step, value);
    },
    timing: (phase, step, figures) => timingLog.record(phase, step, figures),
    flush: () => metricLog.flush(),
    truncateAfter: (mark) => metricLog.truncateAfter(mark),
    close() {
      metricLog.close();
      timingLog.close();
      events?.close();
    },
  };
}
