/** Score of a run (its best on valid by the metric log), and the decision of successive halving. */
import { mainFigureOf } from '../checkpoints/keeper.js';
import type { MetricRecord, Phase } from '../src/run/records.js';
import type { SweepRecord } from '../src/run/sweep.js';

/** Rungs up to a number of updates, ascending: `first`, `first`·η, `first`·η² … */
export function rungsUpTo(updates: number, { first, eta }: NonNullable<SweepRecord['halving']>): number[] {
  const rungs: number[] = [];
  for (let rung = first; rung <= updates; rung *= eta) rungs.push(rung);
  return rungs;
}

/**
 * True if a run that reaches a rung continues: it is among the best ⌊n/η⌋ of the n that have reached it, itself included, and
 * always where it is the best. As good as the last of these is good enough.
 * @param others values of the runs that reached the rung before
 * @source Li et al. 2020, "A system for massively parallel hyperparameter tuning" (ASHA), in the form that stops runs rather than
 *   pausing them, as Optuna's SuccessiveHalvingPruner does
 */
export function goesOn(value: number, others: readonly number[], eta: number, better: SweepRecord['better']): boolean {
  const all = [...others, value].sort((a, b) => (better === 'high' ? b - a : a - b));
  const last = all[Math.max(1, Math.floor(all.length / eta)) - 1]!;
  return better === 'high' ? value >= last : value <= last;
}

/** Phases with evaluations of the walker on valid; embeddings log separate figures. */
const trained: readonly string[] = ['clone', 'fit', 'ppo'] satisfies Phase[];

/** An evaluation on valid. */
export interface Evaluated {
  phase: string;
  step: number;
  metric: string;
  value: number;
}

/** The figure of a sweep in a log record; undefined if absent or NaN. */
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

/** True if `a` is strictly better than `b`. */
export function isBetter(a: number, b: number, better: SweepRecord['better']): boolean {
  return better === 'high' ? a > b : a < b;
}
