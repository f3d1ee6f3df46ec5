/** Queries of link prediction, and the questions that several of them share. */
import type { KnownAnswers } from '../../src/embedding/known-answers.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import type { LinkDirection } from '../../src/run/link-records.js';

/** What ranks are taken among and filtered by; a link data set is one. */
export interface RankedWorld {
  /** Edges of train with inverses: relation `numRelations / 2 + r` is `~r`. Entities of all splits. */
  graph: Graph;
  /** Answers in any split, of plain and of inverse relations. */
  known: Pick<KnownAnswers, 'tailsOf'>;
}

/** Which end of a triple is asked for. */
export type AskedDirection = Exclude<LinkDirection, 'both'>;

/** Each triple as a query of one direction, `tails` the answers; for heads the relations are the inverse ones. */
export function queriesOf(
  graph: Pick<Graph, 'numRelations'>,
  triples: TripleColumns,
  direction: AskedDirection,
): TripleColumns {
  if (direction === 'tail') return triples;
  const { heads, relations, tails } = triples;
  const plain = graph.numRelations / 2;
  return { heads: tails, relations: relations.map((relation) => relation + plain), tails: heads };
}

/** (head, relation, ?) with the queries that ask it: one ranking serves all of them. */
export interface LinkQuestion {
  head: number;
  relation: number;
  /** Places among the queries, ascending. */
  queries: number[];
}

/** The distinct questions of some queries, in the order of first appearance. */
export function questionsOf({ heads, relations }: TripleColumns, numRelations: number): LinkQuestion[] {
  const found = new Map<number, LinkQuestion>();
  for (let query = 0; query < heads.length; query++) {
    const [head, relation] = [heads[query]!, relations[query]!];
    const key = head * numRelations + relation;
    const question = found.get(key);
    if (question) question.queries.push(query);
    else found.set(key, { head, relation, queries: [query] });
  }
  return [...found.values()];
}
