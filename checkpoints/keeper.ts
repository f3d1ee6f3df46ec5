/** Which checkpoints of a run are the best, the last and the clone, and which ones stay. */
import { z } from 'zod';
import { type Phase, phases } from '../src/run/records.js';

/** The `checkpoint` section of a configuration file. */
export const checkpointSettings = z.strictObject({
  everyUpdates: z
    .int()
    .min(1)
    .default(10)
    .describe(
      'PPO updates between checkpoints; the last update always writes one. Each costs the size of the weights three times over (Adam).',
    ),
  keepLast: z.int().min(1).default(2).describe('How many of the newest checkpoints stay.'),
  keepEvery: z
    .int()
    .min(0)
    .default(0)
    .describe('Checkpoints whose step is a multiple of this many updates stay for good; 0 keeps none for that reason.'),
});

/** Every setting with its value. */
export type CheckpointSettings = z.output<typeof checkpointSettings>;

/** Index entry of one checkpoint. */
export interface CheckpointEntry {
  phase: Phase;
  /** Updates done in the phase. */
  step: number;
  metrics: Readonly<Record<string, number>>;
  /** Written because the user stopped the run, outside its schedule: gone with the next one, as if it had never been. */
  interim?: boolean;
}

/** Names that follow training. */
export type Pointer = 'best' | 'last' | 'clone';

/** The metric that chooses among the epochs of cloning, on valid; lower is better. Without it, the metrics above choose. */
export const cloneMetric = 'eval/loss';

/** Negative where `a` was reached before `b` in a run. */
export function compareEntries(a: CheckpointEntry, b: CheckpointEntry): number {
  return phases.indexOf(a.phase) - phases.indexOf(b.phase) || a.step - b.step;
}

/**
 * Pointers into the entries. `clone` is the cloning epoch with the lowest valid loss, or the best score if there is no loss.
 * `best` has the highest metric on valid among the clone and all later checkpoints; ties go to the later one: if a small
 * valid part is fully solved, later training still raises the probabilities. Without scores, `best` is the clone, else the last.
 * @param entries in the order of training
 */
export function choosePointers<T extends CheckpointEntry>(entries: readonly T[]): Partial<Record<Pointer, T>> {
  const last = entries.at(-1);
  const epochs = entries.filter(({ phase }) => phase === 'clone');
  const clone =
    highest(epochs, ({ metrics }) => -(metrics[cloneMetric] ?? NaN)) ?? highest(epochs, scoreOf) ?? epochs.at(-1);
  const rivals = entries.filter((entry) => entry === clone || entry.phase !== 'clone');
  const best = highest(rivals, scoreOf) ?? clone ?? last;
  return { ...(best && { best }), ...(last && { last }), ...(clone && { clone }) };
}

/**
 * The entries that stay: best, clone, the newest `keepLast` and every `keepEvery`-th step. What once goes is never
 * needed later: choosing again among the survivors and newer entries gives what the whole history would give.
 * @param entries in the order they were reached
 */
export function survivors<T extends CheckpointEntry>(
  entries: readonly T[],
  { keepLast, keepEvery }: Pick<CheckpointSettings, 'keepLast' | 'keepEvery'>,
): T[] {
  const kept = new Set([...Object.values(choosePointers(entries)), ...entries.slice(-keepLast)]);
  return entries.filter((entry) => kept.has(entry) || (keepEvery > 0 && entry.step % keepEvery === 0));
}

/**
 * The figure that makes a checkpoint `best`, on valid, higher is better: the first under `eval/` that is no loss. A task logs its
 * main figure first.
 */
export function mainFigureOf(metrics: Readonly<Record<string, number>>): string | undefined {
  return Object.keys(metrics).find((key) => /^eval\/(?!.*loss$)/.test(key));
}

const scoreOf = ({ metrics }: CheckpointEntry) => metrics[mainFigureOf(metrics) ?? ''] ?? NaN;

/** The last entry with the highest value; NaN is no value. */
function highest<T>(entries: readonly T[], valueOf: (entry: T) => number): T | undefined {
  let best: T | undefined;
  for (const entry of entries) if (valueOf(entry) >= (best === undefined ? -Infinity : valueOf(best))) best = entry;
  return best;
}
