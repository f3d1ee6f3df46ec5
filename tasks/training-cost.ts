/** What it took to train what is evaluated: how many weights, and how much processor time. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { optimizerPrefix, readCheckpoint } from '../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../checkpoints/store.js';
import type { EvaluationRecord } from '../src/run/evaluation.js';
import { cpuFigure, readTimings } from '../src/run/metric-log.js';
import { phases } from '../src/run/records.js';
import { runFiles } from '../src/run/run-folder.js';

/** See `trainingCostOf`. */
export interface TrainingCost {
  /** Numbers that were learned and that answering needs. */
  weights: number;
  /** Processor time of the phases up to the checkpoint, evaluations between them left out; absent of runs that did not record it. */
  cpuSeconds?: number;
}

/**
 * Of a run's evaluation.
 * @param runFolder default: the folder that the evaluation is kept in, where that is a run's
 * @returns undefined where there is no run, or no longer its checkpoint
 */
export function trainingCostOf(
  { folder, record }: { folder: string; record: Pick<EvaluationRecord, 'checkpoint' | 'phase'> },
  runFolder = dirname(dirname(folder)),
): TrainingCost | undefined {
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
  const records = existsSync(timing) ? readTimings(timing).filter(({ phase }) => learning.includes(phase)) : [];
  const spent = records.map((one) => one[cpuFigure]);
  const known = spent.length > 0 && spent.every((ms) => typeof ms === 'number');
  return { weights, ...(known && { cpuSeconds: spent.reduce((sum, ms) => sum + ms, 0) / 1000 }) };
}

function weightsOf(file: string): number {
  const learned = Object.entries(readCheckpoint(file).tensors).filter(
    ([name]) => !name.startsWith(optimizerPrefix) && !name.startsWith('critic'),
  );
  return learned.reduce((sum, [, { data }]) => sum + data.length, 0);
}
