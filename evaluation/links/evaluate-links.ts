/** Evaluates whatever ranks entities on the triples of a split: every query is in every denominator. */
import { joinTriples, type TripleColumns } from '../../src/kg/graph.js';
import type { KnownAnswers } from '../../src/embedding/known-answers.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sampled } from '../../src/run/seeds.js';
import type { LinkEvaluationRecord, LinkExample } from '../../src/run/link-records.js';
import { answerDistances } from './answer-distances.js';
import { ChainCounts, chainOf } from './chain-table.js';
import { namedAnswers } from './link-examples.js';
import { linkFigures } from './link-figures.js';
import { queriesOf, type AskedDirection, type LinkQuestion, type RankedWorld } from './link-queries.js';
import type { LinkRanker, RankedQuestion } from '../../agents/link-agents.js';
import type { LinkRows } from './link-rows.js';
import { rankLinks } from './rank-links.js';

/** What is needed of a link data set. */
export interface EvaluatedWorld extends RankedWorld {
  /** Display name of each entity. */
  labels: readonly string[];
  /** Answers in train, of plain and of inverse relations. */
  trainKnown: Pick<KnownAnswers, 'tailsOf'>;
}

/** What is evaluated, for the record, and how. */
export interface EvaluateLinksOptions {
  about: Omit<
    LinkEvaluationRecord,
    'schemaVersion' | 'kind' | 'n' | 'directions' | 'unseen' | 'cost' | 'chains' | 'examples'
  >;
  /** In this order. */
  directions: readonly AskedDirection[];
  /** Bootstrap resamples behind every interval. Default 2000. */
  resamples?: number;
  /** How far answers are looked for, for the upper bound: the horizon of walks. Default 3. */
  horizon?: number;
  /** Queries to keep worked out, of what walks. Default 12. */
  examples?: number;
  /** Chains to keep of each relation, of what walks. Default 5. */
  chains?: number;
  /** @param done queries of all directions that are ranked */
  onProgress?: (done: number) => void;
  signal?: AbortSignal | undefined;
}

/** The record with the rows that it was summed up from. */
export interface LinkEvaluation {
  record: LinkEvaluationRecord;
  rows: LinkRows;
}

/** How fast it was; apart from the record, which has equal bytes for equal evaluations. */
export interface LinkSpeed {
  /** Wall time of the ranking. */
  seconds: number;
  queriesPerSecond: number;
}

/** Answers shown of an example. */
const shownAnswers = 5;

/**
 * Ranks the answers of all triples in each direction. Entities and relations that train lacks are asked about, too: nothing
 * that walks can reach them.
 * @throws WorkbenchError `data` without triples, `stopped` once the signal is aborted
 */
export async function evaluateLinkRanker(
  ranker: LinkRanker,
  world: EvaluatedWorld,
  triples: TripleColumns,
  options: EvaluateLinksOptions,
): Promise<LinkEvaluation & { speed: LinkSpeed }> {
  const { about, directions, resamples = 2000, horizon = 3, onProgress, signal } = options;
  const { graph } = world;
  const n = triples.heads.length;
  if (n === 0 || directions.length === 0) {
    throw new WorkbenchError(
      'data',
      `expected triples to ask for, got none, at split ${about.split} of ${about.dataset}`,
    );
  }
  const parts = directions.map((direction) => queriesOf(graph, triples, direction));
  const queries = joinTriples(parts);
  const notes = new WalkNotes(world, queries, options);
  const begun = performance.now();
  const { ranks, reached } = await rankLinks(ranker, world, queries, {
    signal,
    onQuestion: (question, ranked) => notes.add(question, ranked),
    ...(onProgress && { onProgress }),
  });
  const seconds = (performance.now() - begun) / 1000;
  const walks = ranker.rankings.length > 1;
  const [first, second] = ranker.rankings;
  const rows: LinkRows = {
    asksHead: Uint8Array.from(queries.heads, (_, query) => Number(directions[Math.floor(query / n)] === 'head')),
    heads: queries.heads,
    relations: queries.relations,
    answers: queries.tails,
    ranks: ranks[first!]!,
    ...(second !== undefined && { sumRanks: ranks[second]! }),
    ...(walks && { reached }),
    distances: answerDistances(graph, queries, horizon),
  };
  const record: LinkEvaluationRecord = {
    schemaVersion: 1,
    kind: 'links',
    ...about,
    n,
    directions: linkFigures(rows, { resamples, horizon }),
    unseen: unseenIn(world, queries),
    cost: {},
    ...notes.found(rows.ranks),
  };
  return { record, rows, speed: { seconds, queriesPerSecond: queries.heads.length / seconds } };
}

/** What is told of walks and rules beside their ranks: which chains they use; of walks also some worked out. */
class WalkNotes {
  readonly #world: EvaluatedWorld;
  readonly #queries: TripleColumns;
  readonly #chains: ChainCounts;
  readonly #mostChains: number;
  /** Places of the queries that are worked out, in order. */
  readonly #shown: number[];
  readonly #examples = new Map<number, Omit<LinkExample, 'rank'>>();
  #told = false;

  constructor(world: EvaluatedWorld, queries: TripleColumns, { examples = 12, chains = 5 }: EvaluateLinksOptions) {
    this.#world = world;
    this.#queries = queries;
    this.#chains = new ChainCounts();
    this.#mostChains = chains;
    this.#shown = sampled([...queries.heads.keys()], examples, 'evaluation/examples');
  }

  add({ head, relation, queries }: LinkQuestion, { reached, chainTo, scores }: RankedQuestion): void {
    if (!reached && !chainTo) return;
    this.#told = true;
    const world = this.#world;
    const known = world.known.tailsOf(head, relation);
    // What train holds needs no walk: the first answer beyond it shows what was learned.
    const given = world.trainKnown.tailsOf(head, relation);
    if (!reached) {
      const first = bestBeyond(scores[0]!, given);
      if (first >= 0) this.#chains.add(relation, chainTo!(first)!, known.includes(first));
      return;
    }
    const best = reached.order(reached.best, given.length + 1);
    const first = best.find((place) => !given.includes(reached.entities[place]!));
    if (first !== undefined) {
      const chain = chainOf(reached.path(first), world.graph.numRelations);
      this.#chains.add(relation, chain, known.includes(reached.entities[first]!));
    }
    for (const query of queries) {
      if (!this.#shown.includes(query)) continue;
      const answer = this.#queries.tails[query]!;
      this.#examples.set(query, {
        head: world.labels[head]!,
        relation: world.graph.relationNames[relation]!,
        answer: world.labels[answer]!,
        answers: namedAnswers(world, head, reached, { answer, known }, shownAnswers),
      });
    }
  }

  found(ranks: Float64Array): Pick<LinkEvaluationRecord, 'chains' | 'examples'> {
    if (!this.#told) return {};
    const chains = this.#chains.rows(this.#world.graph, this.#mostChains);
    if (this.#examples.size === 0) return { chains };
    const examples = this.#shown.map((query): LinkExample => ({ ...this.#examples.get(query)!, rank: ranks[query]! }));
    return { chains, examples };
  }
}

/** The entity with the highest score, ties to the lowest id, but for those of a list; -1 where none was reached. */
function bestBeyond(scores: Float64Array, given: Int32Array): number {
  let best = -1;
  let most = -Infinity;
  for (let entity = 0; entity < scores.length; entity++) {
    if (scores[entity]! > most && !given.includes(entity)) {
      best = entity;
      most = scores[entity]!;
    }
  }
  return best;
}

/** Queries with an entity or a relation that train lacks. */
function unseenIn({ graph }: RankedWorld, { heads, relations, tails }: TripleColumns): LinkEvaluationRecord['unseen'] {
  const seen = new Uint8Array(graph.numRelations);
  for (const relation of graph.relations) seen[relation] = 1;
  const unseen = { entities: 0, relations: 0 };
  for (let query = 0; query < heads.length; query++) {
    if (graph.degree(heads[query]!) === 0 || graph.degree(tails[query]!) === 0) unseen.entities++;
    if (seen[relations[query]!] === 0) unseen.relations++;
  }
  return unseen;
}
