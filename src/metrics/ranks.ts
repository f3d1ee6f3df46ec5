/** Ranking metrics (mean reciprocal rank, Hits@k), and spread statistics. */

/**
 * Realistic rank: mean of the optimistic (ties behind) and pessimistic (ties in front) rank, so that constant scores rank in the middle.
 * @param better number of strictly better candidates
 * @param ties candidates with an equal score, the answer excluded
 * @returns 1 is best; halves are possible
 * @source Berrendorf et al. 2020, "On the ambiguity of rank-based evaluation of entity alignment or link prediction methods"
 */
export function realisticRank(better: number, ties: number): number {
  return 1 + better + ties / 2;
}

/**
 * Filtered realistic rank: other known answers are excluded, ties count half. Unreached entities score -Infinity, so an unreached answer
 * ranks behind all reached ones and ties with the rest. NaN ranks worst, so a broken model ranks last.
 * @param scores [numEntities], higher is better
 * @param known entities, each once; may include the answer
 * @returns 1 is best; halves are possible
 */
export function filteredRank(scores: Float64Array | Float32Array, answer: number, known: Int32Array): number {
  const own = scores[answer]!;
  let better = 0;
  let ties = -1;
  for (let entity = 0; entity < scores.length; entity++) {
    const score = scores[entity]!;
    if (score === own) ties++;
    else if (!(score < own)) better++;
  }
  // NaN does not equal itself: it was counted as better, not as the answer's tie with itself.
  if (Number.isNaN(own)) return scores.length - known.length + Number(known.includes(answer));
  for (const entity of known) {
    if (entity === answer) continue;
    const score = scores[entity]!;
    if (score === own) ties--;
    else if (!(score < own)) better--;
  }
  return realisticRank(better, ties);
}

/** Mean reciprocal rank, a fraction; 0 without ranks. */
export function mrr(ranks: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < ranks.length; i++) sum += 1 / ranks[i]!;
  return ranks.length === 0 ? 0 : sum / ranks.length;
}

/** Share of ranks ≤ `k`, a fraction; 0 without ranks. */
export function hitsAtK(ranks: ArrayLike<number>, k: number): number {
  let hits = 0;
  for (let i = 0; i < ranks.length; i++) if (ranks[i]! <= k) hits++;
  return ranks.length === 0 ? 0 : hits / ranks.length;
}

/** Mean, median, 95th percentile and maximum; all 0 without values. */
export interface Spread {
  mean: number;
  median: number;
  p95: number;
  max: number;
}

/** Mean, median, 95th percentile and maximum, as tables print them. */
export const spreadText = ({ mean, median, p95, max }: Spread) => `${mean.toFixed(1)} / ${median} / ${p95} / ${max}`;

/** Percentiles by nearest rank, so always one of the values; the median of an even count is the lower one. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { mean: 0, median: 0, p95: 0, max: 0 };
  const sorted = Float64Array.from(values).sort();
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1]!;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return { mean, median: rank(0.5), p95: rank(0.95), max: sorted.at(-1)! };
}
