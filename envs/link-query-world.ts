/** What `kgwalk/LinkQuery-v1` is given, what it shows, and what its copies share. */
import type { KnownAnswers } from '../src/embedding/known-answers.js';
import type { RelationColumn } from '../src/kg/adjacency.js';
import type { Graph, TripleColumns } from '../src/kg/graph.js';
import { WorkbenchError } from '../src/run/errors.js';
import { Rng } from '../src/run/seeds.js';
import { cutEdges, placeOfEdge, type EdgeLists } from './link-query-edges.js';
import { OtherAnswers } from './link-query-mask.js';
import { checkShaping, type LinkShaping } from './link-query-reward.js';
import { dict, discrete, idPairs, ids, multiBinary, relationIds, vector, type Space } from './spaces.js';

/** Id of the environment that answers (head, relation, ?). */
export const linkQueryId = 'kgwalk/LinkQuery-v1';

/** Vectors that an observation shows instead of ids alone: frozen, of any origin. */
export interface LinkVectors {
  dim: number;
  /** float32 [numEntities, dim], row-major, finite. */
  entities: Float32Array;
  /** float32 [at least as many rows as relations asked for, dim], row-major, finite. */
  relations: Float32Array;
}

/** What `makeEnv('kgwalk/LinkQuery-v1', …)` takes. */
export interface LinkQueryOptions {
  /** What is walked: the training graph, with inverses where edges may be walked both ways. */
  graph: Graph;
  /** The queries with one answer each, by the graph's ids; at least one. An inverse relation asks for heads. */
  queries: TripleColumns;
  /** Steps of every walk, stays included; at least 1. Default 3. */
  horizon?: number;
  /** Whether the edge that a query asks for, and the same edge backwards, are illegal in its walk. Default true. */
  hideQueryEdge?: boolean;
  /** Where given, edges to other right answers of the query are illegal at the last step: only one earns. For training. */
  known?: Pick<KnownAnswers, 'tailsOf'>;
  /** Entities with more out-edges keep a seeded choice of this many. Default: all of them, whatever the hub. */
  maxEdges?: number;
  /** Seed of that choice. Default 0. */
  cutSeed?: number;
  /** Default: observations hold ids alone. */
  vectors?: LinkVectors;
  /** What is paid beside the hit, for training. Default: nothing. */
  shaping?: LinkShaping;
}

/** What an agent sees: never the answer. The arrays must not be written to. */
export interface LinkQueryObservation {
  /** Entity id: where the walk began. */
  head: number;
  /** Relation id that is asked for. */
  relation: number;
  /** Entity id: where the walk stands. */
  current: number;
  /** Steps taken. */
  hop: number;
  /** int32 [2 · hop]: relation id and entity id of each step taken; a stay has the relation `graph.numRelations`. */
  path: Int32Array;
  /** [degree]: relation ids of the out-edges; uint16 up to 65,536 relations, else int32. */
  relations: RelationColumn;
  /** int32 [degree]: entity ids at their ends. */
  tails: Int32Array;
  /** uint8 [degree + 1], 1 = legal: action `i` walks edge `i`, action `degree` stays. */
  actionMask: Uint8Array;
  /** float32 [3 · dim]: vectors of head, relation and current; empty without `vectors`. */
  vector: Float32Array;
}

/** What all copies of an environment share, made once. */
export interface LinkQueryWorld extends EdgeLists {
  graph: Graph;
  queries: TripleColumns;
  horizon: number;
  /** int32 [queries]: place of the query's own edge in its head's list, or -1. */
  hiddenForward: Int32Array;
  /** int32 [queries]: place of the same edge backwards in its answer's list, or -1. */
  hiddenBackward: Int32Array;
  others: OtherAnswers | undefined;
  vectors: LinkVectors | undefined;
  shaping: LinkShaping | undefined;
  /** Largest degree, and one for staying. */
  maxActions: number;
  actionSpace: Space<number>;
  observationSpace: Space<LinkQueryObservation>;
}

/**
 * @throws WorkbenchError `usage` for a horizon or cut below 1 and shaping out of range; `data` for no queries, ids that the graph lacks, and vectors that are
 *   too few or not finite
 */
export function linkQueryWorld(options: LinkQueryOptions): LinkQueryWorld {
  const { graph, queries, horizon = 3, hideQueryEdge = true, known, maxEdges, cutSeed = 0, vectors, shaping } = options;
  checkCount('horizon', horizon);
  if (maxEdges !== undefined) checkCount('maxEdges', maxEdges);
  checkQueries(graph, queries);
  if (vectors) checkVectors(graph, queries, vectors);
  if (shaping) checkShaping(shaping);
  const lists = maxEdges === undefined ? graph : cutEdges(graph, maxEdges, Rng.named(cutSeed, 'env/cut'));
  let maxDegree = 0;
  for (let entity = 0; entity < graph.numEntities; entity++) {
    maxDegree = Math.max(maxDegree, lists.offsets[entity + 1]! - lists.offsets[entity]!);
  }
  const { heads, relations, tails } = queries;
  const hidden = (place: (query: number) => number) =>
    hideQueryEdge ? Int32Array.from(heads, (_, query) => place(query)) : new Int32Array(heads.length).fill(-1);
  return {
    graph,
    queries,
    horizon,
    offsets: lists.offsets,
    relations: lists.relations,
    tails: lists.tails,
    hiddenForward: hidden((q) => placeOfEdge(lists, heads[q]!, relations[q]!, tails[q]!)),
    hiddenBackward: hidden((q) => placeOfEdge(lists, tails[q]!, graph.inverseOf[relations[q]!]!, heads[q]!)),
    others: known && new OtherAnswers(known, lists, graph.numEntities),
    vectors,
    shaping,
    maxActions: maxDegree + 1,
    actionSpace: discrete(maxDegree + 1),
    observationSpace: observationSpace(graph, horizon, maxDegree, vectors),
  };
}

function observationSpace(
  graph: Graph,
  horizon: number,
  maxDegree: number,
  vectors: LinkVectors | undefined,
): Space<LinkQueryObservation> {
  return dict<LinkQueryObservation>({
    head: discrete(graph.numEntities),
    relation: discrete(graph.numRelations),
    current: discrete(graph.numEntities),
    hop: discrete(horizon + 1),
    path: idPairs(graph.numRelations + 1, graph.numEntities, horizon),
    relations: relationIds(graph.numRelations, maxDegree),
    tails: ids(graph.numEntities, maxDegree),
    actionMask: multiBinary(maxDegree + 1),
    vector: vector(vectors ? 3 * vectors.dim : 0),
  });
}

function checkCount(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new WorkbenchError('usage', `expected an integer of at least 1, got ${value}, at ${name} of ${linkQueryId}`);
}

function checkQueries(graph: Graph, { heads, relations, tails }: TripleColumns): void {
  const refuse = (expected: string, got: string) => {
    throw new WorkbenchError('data', `expected ${expected}, got ${got}, at the queries of ${linkQueryId}`, {
      hint: 'Queries are triples of ids of the graph, in three columns of one length.',
    });
  };
  if (heads.length === 0) refuse('at least one query', 'none');
  if (relations.length !== heads.length || tails.length !== heads.length) {
    refuse('columns of one length', `${heads.length}, ${relations.length} and ${tails.length}`);
  }
  for (let query = 0; query < heads.length; query++) {
    const [head, relation, tail] = [heads[query]!, relations[query]!, tails[query]!];
    const fits = (id: number, count: number) => id >= 0 && id < count;
    if (!fits(head, graph.numEntities) || !fits(tail, graph.numEntities) || !fits(relation, graph.numRelations)) {
      refuse(
        `ids below ${graph.numEntities} and ${graph.numRelations}`,
        `(${head}, ${relation}, ${tail}) as query ${query}`,
      );
    }
  }
}

function checkVectors(graph: Graph, queries: TripleColumns, { dim, entities, relations }: LinkVectors): void {
  const asked = 1 + queries.relations.reduce((largest, relation) => Math.max(largest, relation), 0);
  const tables = [
    ['entities', entities, graph.numEntities],
    ['relations', relations, asked],
  ] as const;
  for (const [name, table, rows] of tables) {
    if (!(Number.isInteger(dim) && dim >= 1) || table.length % dim !== 0 || table.length < rows * dim) {
      const got = `${table.length} numbers at dim ${dim}`;
      throw new WorkbenchError('data', `expected at least ${rows} rows, got ${got}, at vectors of ${name}`);
    }
    const bad = table.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0) {
      throw new WorkbenchError(
        'data',
        `expected finite numbers, got ${table[bad]}, at row ${Math.floor(bad / dim)} of ${name}`,
      );
    }
  }
}
