/** The settings of every trial of a sweep: they follow from its seed and the trial's number, and from nothing else. */
import { Rng } from '../src/run/seeds.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { Dimension, SweepRecord } from '../src/run/sweep.js';
import { valueAt } from './space.js';

type Grid = Extract<Dimension, { kind: 'grid' }>;
type Drawn = Exclude<Dimension, Grid>;

/** Inputs of the samples. */
export type Draws = Pick<SweepRecord, 'dimensions' | 'seed'>;

const grids = ({ dimensions }: Pick<Draws, 'dimensions'>) =>
  dimensions.filter((one): one is Grid => one.kind === 'grid');
const drawn = ({ dimensions }: Pick<Draws, 'dimensions'>) =>
  dimensions.filter((one): one is Drawn => one.kind !== 'grid');

/** Points of the grid: the product of its values; 1 without a grid. */
function gridPoints(space: Pick<Draws, 'dimensions'>): number {
  return grids(space).reduce((product, { values }) => product * values.length, 1);
}

/**
 * How many trials a sweep has.
 * @param asked `--trials`, of the whole sweep: grid points take turns, each with its own samples
 * @throws WorkbenchError `usage` where ranges are given and no number, or a number that leaves out points of the grid
 */
export function trialCount(space: Draws, asked: number | undefined): number {
  const points = gridPoints(space);
  const ranges = drawn(space);
  if (ranges.length === 0) {
    if (asked === undefined || asked === points) return points;
    throw new WorkbenchError('usage', `expected ${points} trials, one a point of the grid, got ${asked}, at --trials`, {
      hint: 'Leave --trials out, or draw some of the keys by --sample.',
    });
  }
  if (asked === undefined) {
    throw new WorkbenchError('usage', 'expected --trials with --sample, got none', { hint: 'Such as --trials 20.' });
  }
  if (asked >= points) return asked;
  throw new WorkbenchError(
    'usage',
    `expected at least ${points} trials, one a point of the grid, got ${asked}, at --trials`,
  );
}

/** Settings of trial number `trial`, from 1. The first trials of a longer sweep are those of a shorter one. */
export function trialSettings(space: Draws, trial: number): Record<string, unknown> {
  const place = (key: string) => Rng.named(space.seed, `sweep/${key}`, trial).uniform();
  return Object.fromEntries([
    ...gridValues(grids(space), (trial - 1) % gridPoints(space)),
    ...drawn(space).map((dimension) => [dimension.key, valueAt(dimension, place(dimension.key))]),
  ]) as Record<string, unknown>;
}

/** The values of a point; those of the last key change first. */
function gridValues(keys: readonly Grid[], point: number): [string, unknown][] {
  let rest = point;
  const found = [...keys].reverse().map(({ key, values }): [string, unknown] => {
    const value = values[rest % values.length];
    rest = Math.floor(rest / values.length);
    return [key, value];
  });
  return found.reverse();
}
