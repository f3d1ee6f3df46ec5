/** Where a run writes what happens: metrics without a clock, timing with one, TensorBoard beside them if asked. */
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
  /** Puts metrics on disk. @returns their length in bytes, for a checkpoint */
  flush(): number;
  /** Forgets metrics that were logged after a checkpoint. */
  truncateAfter(offset: number): void;
  close(): void;
}

export function openRunLogs(run: Run, tensorboard: boolean): RunLogs {
  const metricLog = openMetricLog(run.files.metrics);
  const timingLog = openTimingLog(run.files.timing);
  const events = tensorboard ? openEventFile(run.files.tensorboard) : undefined;
  return {
    metrics(phase, step, values) {
      metricLog.append(phase, step, values);
      for (const [key, value] of Object.entries(values)) events?.scalar(`${phase}/${key}`, step, value);
    },
    timing: (phase, step, figures) => timingLog.record(phase, step, figures),
    flush: () => metricLog.flush(),
    truncateAfter: (offset) => metricLog.truncateAfter(offset),
    close() {
      metricLog.close();
      timingLog.close();
      events?.close();
    },
  };
}
