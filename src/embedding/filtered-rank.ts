/** The rank of one answer among all entities that are not known to be right, too. */
import { realisticRank } from '../metrics/ranks.js';

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
