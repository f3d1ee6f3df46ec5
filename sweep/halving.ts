/** Successive halving without waiting: a run that is not among the best of those that came as far is stopped. */
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
