/** Targets that train never had must score clearly below those it had: where they do not, something gives them away. */
import { bootstrapMeans, groupDifference } from '../../src/metrics/bootstrap.js';
import type { Estimate } from '../../src/run/figures.js';

/**
 * `below`: the interval of seen − unseen lies above 0; `above`: it lies below 0; `not below`: it holds 0 although there are
 * enough unseen targets to see a difference of some points; `too few` to say.
 */
type SeenUnseenVerdict = 'below' | 'not below' | 'above' | 'too few';

/** Scores of one evaluation on targets that train had, and on those it had not. */
export interface SeenUnseen {
  evaluation: string;
  agent: string;
  metric: string;
  /** Absent where no target is of that kind. */
  seen?: Estimate | undefined;
  unseen?: Estimate | undefined;
  /** Seen − unseen. */
  difference?: Estimate;
  verdict: SeenUnseenVerdict;
}

export interface ScoredTarget {
  cluster: string;
  /** True if the target occurs in train. */
  seen: boolean;
  /** In [0, 1]. */
  score: number;
}

/** With fewer unseen targets, no difference says nothing: of 100 at 20 %, the standard error is 4 points. */
const enough = 100;

/** With fewer, a percentile interval is no interval. */
const fewest = 20;

/** The scores on both kinds, their difference, and what it says. */
export function seenUnseen(
  about: Pick<SeenUnseen, 'evaluation' | 'agent' | 'metric'>,
  targets: readonly ScoredTarget[],
): SeenUnseen {
  const scoresOf = (some: readonly ScoredTarget[]) => some.map(({ score }) => score);
  const clustersOf = (some: readonly ScoredTarget[]) => some.map(({ cluster }) => cluster);
  const meanOf = (some: readonly ScoredTarget[]) =>
    some.length > 0 ? bootstrapMeans([scoresOf(some)], clustersOf(some), { shares: [true] })[0] : undefined;
  const isSeen = targets.map(({ seen }) => seen);
  const unseen = targets.filter(({ seen }) => !seen);
  const estimates = { seen: meanOf(targets.filter(({ seen }) => seen)), unseen: meanOf(unseen) };
  if (!estimates.seen || !estimates.unseen) return { ...about, ...estimates, verdict: 'too few' };
  const difference = groupDifference(scoresOf(targets), isSeen, clustersOf(targets));
  const few = unseen.length < (difference.low <= 0 && difference.high >= 0 ? enough : fewest);
  const verdict = few ? 'too few' : difference.low > 0 ? 'below' : difference.high < 0 ? 'above' : 'not below';
  return { ...about, ...estimates, difference, verdict };
}
