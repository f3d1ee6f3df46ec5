/** Ranks and what is made of them: mean reciprocal rank and Hits@k. */

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
 * The realistic rank of one candidate by score, higher is better. A NaN is never level with or below anything, so a
 * broken model ranks last instead of first.
 * @param excluded whether a candidate is left out, such as another known answer (the "filtered" setting); default none
 */
export function rankOf(
  scores: ArrayLike<number>,
  answer: number,
  excluded: (candidate: number) => boolean = () => false,
): number {
  const own = scores[answer]!;
  let better = 0;
  let ties = 0;
  for (let i = 0; i < scores.length; i++) {
    if (i === answer || excluded(i)) continue;
    if (scores[i] === own) ties++;
    else if (!(scores[i]! < own)) better++;
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
