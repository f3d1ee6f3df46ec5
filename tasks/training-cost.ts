/** Training cost of an evaluated agent: number of weights, and processor time. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { optimizerPrefix, readCheckpoint } from '../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../checkpoints/store.js';
import type { EvaluationRecord } from '../src/run/evaluation.js';
import { cpuFigure, readTimings } from '../src/run/metric-log.js';
import { phases, type TimingRecord } from '../src/run/records.js';
import { runFiles } from '../src/run/run-files.js';

/** See `trainingCostOf`. */
export interface TrainingCost {
  /** Numbers that were learned and that answering needs. */
  weights: number;
  /**
   * Processor time of the phases up to the checkpoint, evaluations between them left out; absent of runs that did not record it, or
   * that made steps twice.
   */
  cpuSeconds?: number;
}

/**
 * Training cost of a run's evaluation.
 * @param runFolder default: the run's folder that the evaluation is kept in, unless the record names another run; an
 *   ensemble has none
 * @returns undefined where there is no run, or no longer its checkpoint
 */
export function trainingCostOf(
  { folder, record }: { folder: string; record: Pick<EvaluationRecord, 'checkpoint' | 'phase' | 'run'> },
  runFolder = record.run === undefined ? dirname(dirname(folder)) : undefined,
): TrainingCost | undefined {
  if (runFolder === undefined) return undefined;
  const { timing, config } = runFiles(runFolder);
  if (record.checkpoint === undefined || !existsSync(config)) return undefined;
  let weights: number;
  try {
    weights = weightsOf(resolveCheckpoint(runFolder, record.checkpoint).file);
  } catch {
    // Evaluations may outlive their checkpoints.
    return undefined;
  }
  const last = phases.findIndex((phase) => phase === record.phase);
  const learning = phases.filter((phase, i) => phase !== 'encode' && (last < 0 || i <= last)) as readonly string[];
  const logged = existsSync(timing) ? readTimings(timing) : [];
  // What another process had trained took nothing but reading.
  const records = logged.filter((one) => learning.includes(one.phase) && one['time/reused'] !== 1);
  const spent = records.map((one) => one[cpuFigure]);
  const known = spent.length > 0 && spent.every((ms) => typeof ms === 'number') && !isRepeated(records);
  return { weights, ...(known && { cpuSeconds: spent.reduce((sum, ms) => sum + ms, 0) / 1000 }) };
}

/**
 * Whether steps were made twice, as after a process was killed, so that records count them twice. Each kind of record of a phase,
 * such as rounds of PPO and the texts that they read, has each step once, in order.
 */
function isRepeated(records: readonly TimingRecord[]): boolean {
  const last = new Map<string, number>();
  return records.some((record) => {
    const kind = JSON.stringify([record.phase, Object.keys(record)]);
    const before = last.get(kind) ?? -Infinity;
    last.set(kind, record.step);
    return record.step <= before;
  });
}

function weightsOf(file: string): number {
  const learned = Object.entries(readCheckpoint(file).tensors).filter(
    ([name]) => !name.startsWith(optimizerPrefix) && !name.startsWith('critic'),
  );
  return learned.reduce((sum, [, { data }]) => sum + data.length, 0);
}
