/** Ranks and what is made of them: mean reciprocal rank and Hits@k; and how a set of sizes is spread. */

/**
 * The realistic rank: the mean of the optimistic (ties behind) and the pessimistic one (ties in front), so a model that
 * scores everything alike gets the middle and gains nothing from ties.
 * @param better candidates that are strictly better than the answer
 * @param ties candidates level with the answer, the answer aside
 * @returns 1 is best; halves are possible
 * @source Berrendorf et al. 2020, "On the ambiguity of rank-based evaluation of entity alignment or link prediction methods"
 */
export function realisticRank(better: number, ties: number): number {
  return 1 + better + ties / 2;
}

/**
 * Filtered and realistic: other known answers are left out, and candidates level with the answer count half. Entities
 * that were not reached score -Infinity, so an answer among them ranks behind all that were and ties with the rest.
 * NaN is before everything, so a broken model ranks last.
 * @param scores [numEntities], higher is better
 * @param known entities, each once; the answer may be among them
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
  // NaN equals nothing, not even itself: it was counted as better, not as the tie that the answer is with itself.
  if (Number.isNaN(own)) return scores.length - known.length + Number(known.includes(answer));
  for (const entity of known) {
    if (entity === answer) continue;
    const score = scores[entity]!;
    if (score === own) ties--;
    else if (!(score < own)) better--;
  }
  return realisticRank(better, ties);
}

/** Mean reciprocal rank, a fraction; 0 for no ranks. */
export function mrr(ranks: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < ranks.length; i++) sum += 1 / ranks[i]!;
  return ranks.length === 0 ? 0 : sum / ranks.length;
}

/** Share of ranks that are at most `k`, a fraction; 0 for no ranks. */
export function hitsAtK(ranks: ArrayLike<number>, k: number): number {
  let hits = 0;
  for (let i = 0; i < ranks.length; i++) if (ranks[i]! <= k) hits++;
  return ranks.length === 0 ? 0 : hits / ranks.length;
}

/** Mean, median, 95th percentile and largest value; all 0 for no values. */
export interface Spread {
  mean: number;
  median: number;
  p95: number;
  max: number;
}

/** Percentiles are by nearest rank: always one of the values; the median of an even count is the lower one. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { mean: 0, median: 0, p95: 0, max: 0 };
  const sorted = Float64Array.from(values).sort();
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1]!;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return { mean, median: rank(0.5), p95: rank(0.95), max: sorted.at(-1)! };
}
