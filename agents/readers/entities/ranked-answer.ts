/** The answer that shares of entities stand for. */
import { noAnswer, type QuestionAnswer } from '../../question-agent.js';

/**
 * The entities whose share is at least `setShare` of the best one's, best first, equal ones in the order of `entities`. Nothing is
 * walked, so there is neither a chain nor a fact behind it.
 * @param entities int32, distinct @param shares of each, summing to 1; 0 where it cannot be an answer
 */
export function rankedAnswer(
  entities: Int32Array,
  shares: Float32Array,
  setShare: number,
  graphReads: number,
): QuestionAnswer {
  const best = shares.reduce((most, share) => Math.max(most, share), 0);
  if (best === 0) return noAnswer('nothing reached');
  const places = Array.from(shares.keys()).filter((place) => shares[place]! > 0 && shares[place]! >= setShare * best);
  places.sort((a, b) => shares[b]! - shares[a]! || a - b);
  return {
    entities: places.map((place) => entities[place]!),
    literals: [],
    evidence: [],
    confidence: Math.min(1, best),
    degraded: false,
    stop: 'ranked',
    cost: { encodes: 1, graphReads },
  };
}
