/** Queries of link prediction, and their answers ranked, filtered and realistic. */
import { setImmediate } from 'node:timers/promises';
import { type LinkRanker, type RankedQuestion, walkRanker, type WalkRankerOptions } from '../../agents/link-agents.js';
import type { BeamActor } from '../../agents/link-walker/beam.js';
import type { KnownAnswers } from '../../src/embedding/known-answers.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { filteredRank, hitsAtK, mrr } from '../../src/metrics/ranks.js';
import { throwIfStopped } from '../../src/run/stop.js';

/** Candidates and filter of ranks; a link data set is one. */
export interface RankedWorld {
  /** Edges of train with inverses: relation `numRelations / 2 + r` is `~r`. Entities of all splits. */
  graph: Graph;
  /** Answers in any split, of plain and of inverse relations. */
  known: Pick<KnownAnswers, 'tailsOf'>;
}

/** Which end of a triple is asked for. */
export type AskedDirection = 'tail' | 'head';

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

/** Progress and stop signal. */
export interface RankOptions {
  /** Aborted: stops between two batches. */
  signal?: AbortSignal | undefined;
  /** @param done queries that are ranked */
  onProgress?: (done: number) => void;
  /** Sees every question as it was ranked, for what else is counted. */
  onQuestion?: (question: LinkQuestion, ranked: RankedQuestion) => void;
}

/** Ranks of some queries, by their places. */
export interface LinkRanks {
  /** float64 [queries] for each ranking of the ranker; 1 is best. */
  ranks: Record<string, Float64Array>;
  /** uint8 [queries]: 1 where the answer was reached, which scorers do always. */
  reached: Uint8Array;
}

/**
 * Ranks each query's answer (its tail) among all entities but other known answers.
 * @throws WorkbenchError `stopped` once the signal is aborted
 */
export async function rankLinks(
  ranker: LinkRanker,
  world: RankedWorld,
  queries: TripleColumns,
  { signal, onProgress, onQuestion }: RankOptions = {},
): Promise<LinkRanks> {
  const count = queries.heads.length;
  const ranks = ranker.rankings.map(() => new Float64Array(count));
  const reached = new Uint8Array(count);
  const questions = questionsOf(queries, world.graph.numRelations);
  let done = 0;
  for (let first = 0; first < questions.length; first += ranker.batchSize) {
    throwIfStopped(signal);
    const batch = questions.slice(first, first + ranker.batchSize);
    await ranker.rank(batch, (i, ranked) => {
      const question = batch[i]!;
      const known = world.known.tailsOf(question.head, question.relation);
      for (const query of question.queries) {
        const answer = queries.tails[query]!;
        ranked.scores.forEach((scores, r) => (ranks[r]![query] = filteredRank(scores, answer, known)));
        reached[query] = Number(ranked.scores[0]![answer] !== -Infinity);
      }
      onQuestion?.(question, ranked);
      done += question.queries.length;
    });
    onProgress?.(done);
    await setImmediate(); // lets Ctrl-C through
  }
  return { ranks: Object.fromEntries(ranker.rankings.map((name, r) => [name, ranks[r]!])), reached };
}

/** Ranks by walks. */
export interface WalkRanks {
  /** float64 [queries]: by the best walk to each entity. */
  max: Float64Array;
  /** float64 [queries]: by the summed probability of the walks to each entity. */
  sum: Float64Array;
  /** uint8 [queries]: whether any walk of the beam reached the answer. */
  reached: Uint8Array;
}

/** `rankLinks` by the walks of a policy: what training measures on valid. */
export async function rankWalks(
  actor: BeamActor,
  world: RankedWorld,
  queries: TripleColumns,
  options: WalkRankerOptions & RankOptions,
): Promise<WalkRanks> {
  const { ranks, reached } = await rankLinks(walkRanker(actor, world.graph, options), world, queries, options);
  return { max: ranks.max!, sum: ranks.sum!, reached };
}

/**
 * What curves show of ranks on valid, the first of which chooses the best checkpoint: `eval/mrr` and `eval/hits@k` of all, `eval/tail_mrr`
 * of the tails alone.
 * @param ranks from 1, those of the tails first
 * @param numTails how many those are
 */
export function rankFigures(ranks: readonly number[], numTails: number): Record<string, number> {
  return {
    'eval/mrr': mrr(ranks),
    'eval/hits@1': hitsAtK(ranks, 1),
    'eval/hits@3': hitsAtK(ranks, 3),
    'eval/hits@10': hitsAtK(ranks, 10),
    'eval/tail_mrr': mrr(ranks.slice(0, numTails)),
  };
}
