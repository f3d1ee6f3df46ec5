/** `timing.jsonl`: the wall clock and memory of a run, apart from its metrics so that those stay equal between equal runs. */
import { memoryUsage } from 'node:process';
import { openJsonLines, readJsonLines } from './json-lines.js';
import { timingRecord } from './record-schemas.js';
import type { TimingRecord } from './records.js';

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
