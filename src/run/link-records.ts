/** The record of an evaluation on link queries, as written to disk: evaluation writes it, comparisons and reports read it. */
import type { EvaluationMetrics } from './records.js';

/** Which queries: `tail` asks (head, relation, ?), `head` asks by the inverse relation, `both` is all of them. */
export const linkDirections = ['tail', 'head', 'both'] as const;
/** One of `linkDirections`. */
export type LinkDirection = (typeof linkDirections)[number];

/** A chain of relations that walks used to answer the queries of one relation. */
export interface ChainRecord {
  /** Relation that was asked for, by name; `~name` asks for heads. */
  relation: string;
  /** Names of the relations walked, in order; staying is left out. Empty: the walk stayed where it began. */
  chain: string[];
  /** Queries whose first answer was reached by it: at least 1. */
  uses: number;
  /** Of these, the queries whose first answer was right. */
  right: number;
  /** In [0, 1]: right / uses. */
  precision: number;
}

/** One agent on one split of link data. Realistic ranks, filtered by all splits; nothing that failed is left out. */
export interface LinkEvaluationRecord {
  schemaVersion: 1;
  kind: 'links';
  /** `walker`, or of what learns no walk `transe`, `distmult`, `complex`, `rules`, `random`. */
  agent: string;
  /** A fact that belongs beside the numbers. */
  note?: string;
  dataset: string;
  split: string;
  /** Set where only a seeded sample of this many triples was asked. */
  limit?: number;
  seed?: number;
  /** Triples that were asked, each in every direction of `directions`. */
  n: number;
  /** Name of the run that trained it, and its checkpoint. */
  run?: string;
  checkpoint?: string;
  /** Of walkers and rules: steps of a walk. */
  horizon?: number;
  /** Of walkers. */
  beamWidth?: number;
  /**
   * Figures by direction, of those that were asked. `mrr`, `hits@1`, `hits@3`, `hits@10`: an entity counts by its best walk;
   * `sum-mrr`, `sum-hits@k`: by the summed probability of its walks (walkers alone); `reached`: share of the answers in the
   * beam; `reachable@t`: share of the answers at most t edges from the query's entity, its own edge hidden. In [0, 1].
   */
  directions: Partial<Record<LinkDirection, EvaluationMetrics>>;
  /** Queries, of all that were asked, with an entity or a relation that train lacks: ranked last. */
  unseen: { entities: number; relations: number };
  cost: {
    /** Wall time. */
    seconds?: number;
    queriesPerSecond?: number;
  };
  hashes: { graph: string; dataset: string; checkpoint?: string; table?: string };
  /** The most used chains of each relation, by relation, most used first; of walkers and rules. */
  chains?: ChainRecord[];
  examples?: LinkExample[];
}

/** A query worked out, for reports: display names, not ids. */
export interface LinkExample {
  head: string;
  /** Name of the relation, `~name` for an inverse one. */
  relation: string;
  answer: string;
  /** Filtered realistic rank of the answer: at least 1, halves where ties are broken by chance. */
  rank: number;
  /** Best first, as far as they are shown. */
  answers: LinkAnswer[];
}

/** An entity that walks reached, with the best of them. */
export interface LinkAnswer {
  entity: string;
  /** Log-probability of the best walk. */
  logProb: number;
  /** Whether it is the query's answer; `known`: another right one, which ranks leave out. */
  right: boolean;
  known: boolean;
  /** [head, relation, tail] display names of the best walk, stays left out. */
  path: [string, string, string][];
}
