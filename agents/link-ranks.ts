/** Queries of link prediction, and their answers ranked, filtered and realistic. */
import { setImmediate } from 'node:timers/promises';
import type { LinkRanker } from './link-ranker.js';
import type { KnownAnswers } from '../src/embedding/known-answers.js';
import type { Graph, TripleColumns } from '../src/kg/graph.js';
import { filteredRank, hitsAtK, mrr } from '../src/metrics/ranks.js';
import { madeFrom } from '../src/run/provenance.js';
import { countOfEvaluated } from '../src/metrics/intervals.js';
import { throwIfStopped } from '../src/run/stop.js';
import type { Session } from '../trainers/session.js';

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
interface LinkQuestion {
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

export interface RankOptions {
  /** Aborted: stops between two batches. */
  signal?: AbortSignal | undefined;
  /** @param done queries that are ranked */
  onProgress?: (done: number) => void;
}

interface LinkRanks {
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
  { signal, onProgress }: RankOptions = {},
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
      done += question.queries.length;
    });
    onProgress?.(done);
    await setImmediate(); // lets Ctrl-C through
  }
  return { ranks: Object.fromEntries(ranker.rankings.map((name, r) => [name, ranks[r]!])), reached };
}

/**
 * Ranks the watched triples of valid in the directions that are trained: `eval/mrr`, which chooses the best checkpoint, and `eval/hits@k`
 * over both, `eval/tail_mrr` of the tails alone; of walks by the pooling of the settings, and `eval/max_mrr` and `eval/sum_mrr` by either.
 */
export async function rankOnValid(
  { settings: { linkWalk, evaluation }, progress, signal }: Session,
  { dataset }: { dataset: RankedWorld },
  ranker: LinkRanker,
  watched: TripleColumns,
): Promise<Record<string, number>> {
  const directions = linkWalk.bothDirections ? (['tail', 'head'] as const) : (['tail'] as const);
  const triples = watched.heads.length;
  const line = progress('evaluate on valid', triples * directions.length, 'queries');
  const all: Record<string, number[]> = {};
  for (const [i, direction] of directions.entries()) {
    const onProgress = (done: number) => line.update(i * triples + done);
    const queries = queriesOf(dataset.graph, watched, direction);
    const { ranks } = await rankLinks(ranker, dataset, queries, { signal, onProgress });
    for (const [name, own] of Object.entries(ranks)) (all[name] ??= []).push(...own);
  }
  // Not before: an evaluation that is stopped has chosen nothing.
  madeFrom('choice', 'best checkpoint', { graph: dataset.graph.hash, split: 'valid', triples });
  const { max, sum, score } = all;
  const ranks = (score ?? all[evaluation.pooling])!;
  line.finish(`MRR ${mrr(ranks).toFixed(3)}`);
  return {
    'eval/mrr': mrr(ranks),
    ...Object.fromEntries([1, 3, 10].map((k) => [`eval/hits@${k}`, hitsAtK(ranks, k)])),
    'eval/tail_mrr': mrr(ranks.slice(0, triples)),
    ...(max && sum && { 'eval/max_mrr': mrr(max), 'eval/sum_mrr': mrr(sum) }),
    [countOfEvaluated]: ranks.length,
  };
}
