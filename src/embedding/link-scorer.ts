/** Scores of link queries by a pretrained embedding, whatever its form. */
import type { TripleColumns } from '../kg/graph.js';
import type { KnownAnswers } from './known-answers.js';

/** The forms there are. */
export const linkScorerNames = ['transe', 'distmult', 'complex'] as const;
/** One of `linkScorerNames`. */
export type LinkScorerName = (typeof linkScorerNames)[number];

/**
 * How well an entity answers (head, relation, ?): the higher, the better. Scores are comparable within a query; between
 * queries and as probabilities only once calibrated (`calibratedProbability`).
 */
export interface LinkScorer {
  readonly name: LinkScorerName;
  readonly numEntities: number;
  /** Inverses among them: relation `numRelations / 2 + r` asks for the heads of r. */
  readonly numRelations: number;
  /** The score of one triple, any finite number. O(dim), without allocation. */
  score(head: number, relation: number, tail: number): number;
  /** The scores of every entity as the tail, O(numEntities · dim). @param out [numEntities], filled */
  scoreTails(head: number, relation: number, out: Float64Array | Float32Array): void;
  /** What `scorerRanks` returns, faster than by `scoreTails`. */
  ranks?(triples: TripleColumns, known: KnownAnswers): Float64Array;
}
