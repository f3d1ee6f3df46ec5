/** Scores of link queries by a trained table of any model. */
import type { TripleColumns } from '../kg/graph.js';
import { bilinearRanks, type BilinearTable, composeQuery } from './bilinear.js';
import { type EmbeddingTable, scoreTriple } from './transe.js';
import type { KnownAnswers } from './known-answers.js';
import { linkMetrics, type LinkMetrics, linkRanks } from './rank-links.js';

/** Scores of entities that answer (head, relation, ?), the higher the better; comparable within a query alone, unless calibrated. */
export interface LinkScorer {
  readonly name: 'transe' | 'distmult' | 'complex';
  readonly numEntities: number;
  /** Inverses among them: relation `numRelations / 2 + r` asks for the heads of r. */
  readonly numRelations: number;
  /** The score of one triple, any finite number. O(dim), without allocation. */
  score(head: number, relation: number, tail: number): number;
  /** The scores of every entity as the tail, O(numEntities · dim). @param out [numEntities], filled */
  scoreTails(head: number, relation: number, out: Float64Array | Float32Array): void;
  /**
   * Realistic ranks of the true tail (even places) and the true head (odd places) of each triple among all entities that are not known as
   * answers: float64 [2 * number of triples].
   * @param triples of plain relations; heads are asked for through the inverse ones
   */
  ranks(triples: TripleColumns, known: KnownAnswers): Float64Array;
}

/** The negative distance. @param table whose inverse relations have the negative of their relation's vector */
export function transeScorer(table: EmbeddingTable): LinkScorer {
  const { numEntities, numRelations } = table;
  return {
    name: 'transe',
    numEntities,
    numRelations,
    score: (head, relation, tail) => scoreTriple(table, head, relation, tail),
    scoreTails(head, relation, out) {
      for (let tail = 0; tail < numEntities; tail++) out[tail] = scoreTriple(table, head, relation, tail);
    },
    ranks: (triples, known) => linkRanks(table, triples, known),
  };
}

/** The product of DistMult or ComplEx, summed in float64. */
export function bilinearScorer(table: BilinearTable): LinkScorer {
  const { model, dim, numEntities, numRelations, entities } = table;
  const query = new Float64Array(dim);
  const dot = (tail: number) => {
    let sum = 0;
    for (let k = 0, at = tail * dim; k < dim; k++, at++) sum += query[k]! * entities[at]!;
    return sum;
  };
  return {
    name: model,
    numEntities,
    numRelations,
    score(head, relation, tail) {
      composeQuery(table, head, relation, query, 0);
      return dot(tail);
    },
    scoreTails(head, relation, out) {
      composeQuery(table, head, relation, query, 0);
      for (let tail = 0; tail < numEntities; tail++) out[tail] = dot(tail);
    },
    ranks: (triples, known) => bilinearRanks(table, triples, known),
  };
}

/** Figures of a scorer: both directions together and each apart. */
export interface SidedLinkMetrics {
  both: LinkMetrics;
  /** (head, relation, ?) */
  tail: LinkMetrics;
  /** (?, relation, tail) */
  head: LinkMetrics;
}

/** The figures of ranks as a scorer gives them. */
export function sidedLinkMetrics(ranks: Float64Array): SidedLinkMetrics {
  const side = (odd: number) => linkMetrics(ranks.filter((_, index) => index % 2 === odd));
  return { both: linkMetrics(ranks), tail: side(0), head: side(1) };
}
