/** How far the means of two groups of samples are apart, where samples come in clusters. */
import type { Estimate } from '../run/records.js';
import { Rng } from '../run/seeds.js';

/**
 * Mean over a group minus the mean over the others, with a 95 % percentile interval over clusters: a dialogue is drawn
 * with all its samples, whichever group they are in. Resamples that leave a group empty are left out.
 * @param values of the samples
 * @param inGroup whether each is in the group; both groups need at least one
 * @param clusters id of each sample's cluster, such as its dialogue
 */
export function groupDifference(
  values: ArrayLike<number>,
  inGroup: readonly boolean[],
  clusters: readonly string[],
  { resamples = 2000, seed = 0 }: { resamples?: number; seed?: number } = {},
): Estimate {
  const rowOf = new Map<string, number>();
  for (const cluster of clusters) if (!rowOf.has(cluster)) rowOf.set(cluster, rowOf.size);
  // A row a cluster: sum and number of the group, sum and number of the others.
  const sums = new Float64Array(4 * rowOf.size);
  clusters.forEach((cluster, i) => {
    const place = 4 * rowOf.get(cluster)! + (inGroup[i] ? 0 : 2);
    sums[place]! += values[i]!;
    sums[place + 1]!++;
  });
  const differenceOver = (count: number, row: (draw: number) => number): number => {
    const totals = new Float64Array(4);
    for (let draw = 0; draw < count; draw++) {
      const begin = 4 * row(draw);
      for (let k = 0; k < 4; k++) totals[k]! += sums[begin + k]!;
    }
    return totals[0]! / totals[1]! - totals[2]! / totals[3]!;
  };
  const rng = Rng.named(seed, 'metrics/group-difference');
  const drawn = Array.from({ length: resamples }, () => differenceOver(rowOf.size, () => rng.integer(rowOf.size)))
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const at = (share: number) => drawn[Math.round(share * (drawn.length - 1))] ?? NaN;
  return { value: differenceOver(rowOf.size, (draw) => draw), low: at(0.025), high: at(0.975), n: clusters.length };
}
