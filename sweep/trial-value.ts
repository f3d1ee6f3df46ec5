/** What a run is worth: the best that it reached on valid, by its metric log. */
import { mainFigureOf } from '../checkpoints/keeper.js';
import type { MetricRecord, Phase } from '../src/run/records.js';
import type { SweepRecord } from '../src/run/sweep.js';

/** Phases whose evaluations on valid are of the walker; TransE and other embeddings log figures of their own. */
const trained: readonly string[] = ['clone', 'fit', 'ppo'] satisfies Phase[];

/** An evaluation on valid. */
export interface Evaluated {
  phase: string;
  step: number;
  metric: string;
  value: number;
}

/** The figure of a sweep in a record of the log; undefined where it holds none, or NaN. */
export function evaluatedIn(
  { phase, step, metrics }: MetricRecord,
  { metric: wanted }: Pick<SweepRecord, 'metric'>,
): Evaluated | undefined {
  if (!trained.includes(phase)) return undefined;
  const metric = wanted ?? mainFigureOf(metrics);
  const value = metric === undefined ? undefined : metrics[metric];
  return metric === undefined || value === undefined || Number.isNaN(value)
    ? undefined
    : { phase, step, metric, value };
}

/** Whether `a` is better than `b`; equal ones are not, so that the first of them stays. */
export function isBetter(a: number, b: number, better: SweepRecord['better']): boolean {
  return better === 'high' ? a > b : a < b;
}
