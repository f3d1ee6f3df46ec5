/** What a run is worth, the best that it reached on valid by its metric log, and whether successive halving lets it go on. */
import { mainFigureOf } from '../checkpoints/keeper.js';
import type { MetricRecord, Phase } from '../src/run/records.js';
import type { SweepRecord } from '../src/run/sweep.js';

/** The rungs at or below a number of updates, ascending: `first`, `first`·η, `first`·η² … */
export function rungsUpTo(updates: number, { first, eta }: NonNullable<SweepRecord['halving']>): number[] {
  const rungs: number[] = [];
  for (let rung = first; rung <= updates; rung *= eta) rungs.push(rung);
  return rungs;
}

/**
 * Whether a run that reaches a rung goes on: it is among the best ⌊n/η⌋ of the n that have reached it, itself included, and
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
