/** Logged records as series, for reports and browsers: names of phases, values by step, cumulative cost. */

/** Phases of training in order: the name within a sentence, and the unit of a step. */
export const phaseWords: Readonly<Record<string, { name: string; steps: string }>> = {
  transe: { name: 'TransE', steps: 'epochs over the graph' },
  bilinear: { name: 'bilinear embeddings', steps: 'epochs over the graph' },
  encode: { name: 'text vectors', steps: 'steps' },
  clone: { name: 'cloning', steps: 'updates' },
  fit: { name: 'fitting', steps: 'steps' },
  ppo: { name: 'PPO', steps: 'updates' },
};

/** True if the values of a metric are fractions that are shown as percent; evaluations may declare their unit instead. */
export function isShare(key: string, values: readonly number[]): boolean {
  if (/(rate|fraction|accuracy)$/.test(key)) return !key.endsWith('learning_rate');
  return key.startsWith('eval/') && !key.endsWith('loss') && values.every((value) => value >= 0 && value <= 1);
}

/** Series of every metric of a phase, by key. */
export function seriesOfPhase<Value>(
  records: readonly { phase: string; step: number; metrics: Readonly<Record<string, Value>> }[],
  phase: string,
): Map<string, Map<number, Value>> {
  const series = new Map<string, Map<number, Value>>();
  for (const record of records) {
    if (record.phase !== phase) continue;
    for (const [key, value] of Object.entries(record.metrics)) {
      if (!series.has(key)) series.set(key, new Map());
      series.get(key)!.set(record.step, value);
    }
  }
  return series;
}

/** Cumulative cost of a phase by step: environment steps, or seconds of wall time. */
export type Taken = 'time/env_steps' | 'seconds';

/** A record of `timing.jsonl`. */
export type Timing = { readonly phase: string; readonly step: number } & { readonly [Key in Taken]?: number | null };

/** Cumulative cost of one run at each step of a phase, from 0 at step 0. A step repeated after an interruption counts once. */
export function takenBy(timings: readonly Timing[], phase: string, what: Taken): Map<number, number> {
  const taken = new Map<number, number>([[0, 0]]);
  let sum = 0;
  for (const record of timings) {
    if (record.phase !== phase || !(what in record) || taken.has(record.step)) continue;
    sum += Number(record[what]);
    taken.set(record.step, sum);
  }
  return taken;
}
