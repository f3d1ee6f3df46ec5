/** Options, observation and shared state of `kgwalk/LinkQuery-v1`. */
import type { KnownAnswers } from '../../src/embedding/known-answers.js';
import type { RelationColumn } from '../../src/kg/adjacency.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { dict, discrete, idPairs, ids, multiBinary, relationIds, vector, type Space } from '../spaces.js';

/** Id of the environment that answers (head, relation, ?). */
export const linkQueryId = 'kgwalk/LinkQuery-v1';

/** Vectors that an observation shows instead of ids alone: frozen, of any origin. */
export interface QueryVectors {
  dim: number;
  /** float32 [numEntities, dim], row-major, finite. */
  entities: Float32Array;
  /** float32 [at least the number of query relations, dim], row-major, finite. */
  relations: Float32Array;
}

/** Options of `makeEnv('kgwalk/LinkQuery-v1', …)`. */
export interface LinkQueryOptions {
  /** Graph to walk: the training graph, with inverses if edges may be walked in both directions. */
  graph: Graph;
  /** The queries with one answer each, by the graph's ids; at least one. An inverse relation asks for heads. */
  queries: TripleColumns;
  /** Steps of every walk, stays included; at least 1. Default 3. */
  horizon?: number;
  /** True if the query's edge, and the same edge backwards, are illegal in its walk. Default true. */
  hideQueryEdge?: boolean;
  /** True if every edge between head and answer is illegal in its walk, with any relation: for training. Default false. */
  hidePairs?: boolean;
  /** Other right answers: edges to them are illegal at the last step, since only one is rewarded. For training. */
  known?: Pick<KnownAnswers, 'tailsOf'>;
  /** Entities with more out-edges keep a seeded sample of this size. Default: all edges. */
  maxEdges?: number;
  /** Seed of that choice. Default 0. */
  cutSeed?: number;
  /** Default: observations hold ids alone. */
  vectors?: QueryVectors;
  /** Reward in addition to the hit, for training. Default: none. */
  shaping?: LinkShaping;
}

/** Observation: never contains the answer. The arrays must not be written to. */
export interface LinkQueryObservation {
  /** Entity id: where the walk began. */
  head: number;
  relation: number;
  /** Id of the current entity. */
  current: number;
  hop: number;
  /** int32 [2 · hop]: relation id and entity id of each step taken; a stay has the relation `graph.numRelations`. */
  path: Int32Array;
  /** `[degree]`: relation ids of the out-edges; uint16 up to 65,536 relations, else int32. */
  relations: RelationColumn;
  /** int32 [degree]: entity ids at their ends. */
  tails: Int32Array;
  /** uint8 [degree + 1], 1 = legal: action `i` walks edge `i`, action `degree` stays. */
  actionMask: Uint8Array;
  /** float32 [3 · dim]: vectors of head, relation and current; empty without `vectors`. */
  vector: Float32Array;
}

/** Shared by all copies of an environment, made once. */
export interface LinkQueryWorld
  extends EdgeLists, Required<Pick<LinkQueryOptions, 'graph' | 'queries' | 'horizon' | 'hidePairs'>> {
  /** int32 [queries]: place of the query's own edge in its head's list, or -1. */
  hiddenForward: Int32Array;
  /** int32 [queries]: place of the same edge backwards in its answer's list, or -1. */
  hiddenBackward: Int32Array;
  others: OtherAnswers | undefined;
  vectors: QueryVectors | undefined;
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
  const { graph, queries, horizon = 3, hideQueryEdge = true, hidePairs = false } = options;
  const { known, maxEdges, cutSeed = 0, vectors, shaping } = options;
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
    ...{ graph, queries, horizon, hidePairs, vectors, shaping },
    ...{ offsets: lists.offsets, relations: lists.relations, tails: lists.tails },
    hiddenForward: hidden((q) => placeOfEdge(lists, heads[q]!, relations[q]!, tails[q]!)),
    hiddenBackward: hidden((q) => placeOfEdge(lists, tails[q]!, graph.inverseOf[relations[q]!]!, heads[q]!)),
    others: known && otherAnswers(known, lists, graph.numEntities),
    maxActions: maxDegree + 1,
    actionSpace: discrete(maxDegree + 1),
    observationSpace: observationSpace(graph, horizon, maxDegree, vectors),
  };
}

function observationSpace(
  graph: Graph,
  horizon: number,
  maxDegree: number,
  vectors: QueryVectors | undefined,
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
      const got = `(${head}, ${relation}, ${tail}) as query ${query}`;
      refuse(`ids below ${graph.numEntities} and ${graph.numRelations}`, got);
    }
  }
}

function checkVectors(graph: Graph, queries: TripleColumns, { dim, entities, relations }: QueryVectors): void {
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
      const place = `row ${Math.floor(bad / dim)} of ${name}`;
      throw new WorkbenchError('data', `expected finite numbers, got ${table[bad]}, at ${place}`);
    }
  }
}

/** Edges in compressed sparse rows, those of one head ordered by (relation, tail). */
export interface EdgeLists {
  /** int32 [numEntities + 1]: edges of `head` are `offsets[head] .. offsets[head + 1] - 1`. */
  offsets: Int32Array;
  /** `[edges]`: relation id of each; uint16 up to 65,536 relations, else int32. */
  relations: RelationColumn;
  /** int32 [edges]: entity id at the end of each. */
  tails: Int32Array;
}

/** Every list with at most `most` edges: longer ones keep a uniform choice, in their order. New arrays. */
function cutEdges({ offsets, relations, tails }: EdgeLists, most: number, rng: Rng): EdgeLists {
  const kept = new Int32Array(offsets.length);
  for (let head = 0; head + 1 < offsets.length; head++) {
    kept[head + 1] = kept[head]! + Math.min(most, offsets[head + 1]! - offsets[head]!);
  }
  const cut = { offsets: kept, relations: relations.slice(0, kept.at(-1)), tails: new Int32Array(kept.at(-1)!) };
  let at = 0;
  for (let head = 0; head + 1 < offsets.length; head++) {
    let wanted = kept[head + 1]! - kept[head]!;
    // Each edge is kept with the chance that what is still wanted has among what is left.
    for (let edge = offsets[head]!; wanted > 0; edge++) {
      if (wanted < offsets[head + 1]! - edge && rng.integer(offsets[head + 1]! - edge) >= wanted) continue;
      cut.relations[at] = relations[edge]!;
      cut.tails[at++] = tails[edge]!;
      wanted--;
    }
  }
  return cut;
}

/** Place of the edge (head, relation, tail) in its head's list, or -1. O(log degree). */
export function placeOfEdge(
  { offsets, relations, tails }: EdgeLists,
  head: number,
  relation: number,
  tail: number,
): number {
  let low = offsets[head]!;
  let high = offsets[head + 1]! - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const order = relations[middle]! - relation || tails[middle]! - tail;
    if (order === 0) return middle - offsets[head]!;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/**
 * Writes the places of `current`'s edges that lead to a right answer of (head, relation) other than `answer`. O(answers + degree).
 * @returns where the list `into` ends now
 */
type OtherAnswers = (
  head: number,
  relation: number,
  answer: number,
  current: number,
  into: Int32Array,
  at: number,
) => number;

/** Finds edges to other right answers without memory per query. */
function otherAnswers(
  known: Pick<KnownAnswers, 'tailsOf'>,
  { offsets, tails }: EdgeLists,
  numEntities: number,
): OtherAnswers {
  /** The search in which an entity was last marked as an answer. */
  const marks = new Int32Array(numEntities);
  let search = 0;
  return (head, relation, answer, current, into, at) => {
    if (++search === 0x7fffffff) {
      marks.fill(0);
      search = 1;
    }
    for (const other of known.tailsOf(head, relation)) if (other !== answer) marks[other] = search;
    const begin = offsets[current]!;
    for (let edge = begin; edge < offsets[current + 1]!; edge++) {
      if (marks[tails[edge]!] === search) into[at++] = edge - begin;
    }
    return at;
  };
}

/**
 * Writes the places of the actions that are illegal now and returns how many; one may be named twice. Staying never is.
 * @param into room for `2 · maxActions + 2`
 */
export function hiddenPlaces(
  world: LinkQueryWorld,
  query: number,
  current: number,
  hop: number,
  into: Int32Array,
): number {
  const { queries, hiddenForward, hiddenBackward, hidePairs, others, horizon } = world;
  const answer = queries.tails[query]!;
  let count = 0;
  if (hidePairs && (current === queries.heads[query] || current === answer)) {
    const { offsets, tails } = world;
    const other = current === answer ? queries.heads[query]! : answer;
    const begin = offsets[current]!;
    for (let edge = begin; edge < offsets[current + 1]!; edge++) {
      if (tails[edge] === other) into[count++] = edge - begin;
    }
  }
  if (current === queries.heads[query] && hiddenForward[query]! >= 0) into[count++] = hiddenForward[query]!;
  if (current === answer && hiddenBackward[query]! >= 0) into[count++] = hiddenBackward[query]!;
  if (others && hop === horizon - 1) {
    count = others(queries.heads[query]!, queries.relations[query]!, answer, current, into, count);
  }
  return count;
}

/** Reward in addition to the hit, for training. It may use the answer's probability; walkers never see it. */
export interface LinkShaping {
  /**
   * `terminal`: a walk that ends elsewhere than at its answer is rewarded by weight · p(head, relation, end). `potential`: each step is
   * rewarded by γΦ(s′) − Φ(s) with Φ = weight · p(head, relation, current), 0 at the end; the optimal policy is unchanged.
   * @source terminal: Lin et al. 2018, arXiv:1808.10568, eq. 7; potential: Ng, Harada and Russell 1999, theorem 1
   */
  kind: 'terminal' | 'potential';
  /** At least 0. */
  weight: number;
  /** γ of the potential's gain, in [0, 1]: the trainer's discount, else the policy does not stay the same. Default 1. */
  gamma?: number;
  /** Probability in [0, 1] of a triple, by ids of the graph; called once per walk (`terminal`) or once per state. */
  probability(head: number, relation: number, tail: number): number;
}

/** @throws WorkbenchError `usage` for a weight below 0 and a gamma outside [0, 1] */
function checkShaping({ weight, gamma = 1 }: LinkShaping): void {
  const refuse = (expected: string, got: number, key: string) => {
    throw new WorkbenchError('usage', `expected ${expected}, got ${got}, at shaping.${key} of link queries`);
  };
  if (!(weight >= 0 && Number.isFinite(weight))) refuse('a finite number of at least 0', weight, 'weight');
  if (!(gamma >= 0 && gamma <= 1)) refuse('a number from 0 to 1', gamma, 'gamma');
}

/** Φ of standing at `current` before the end; 0 without potential-based shaping. */
export function potentialOf(world: LinkQueryWorld, query: number, current: number): number {
  return world.shaping?.kind === 'potential' ? worth(world, world.shaping, query, current) : 0;
}

/**
 * Reward of one step.
 * @param hit true if the walk ended at its answer; undefined before the end
 * @param before Φ of the previous state
 * @param now Φ of the new state; not read at the end
 */
export function stepReward(
  world: LinkQueryWorld,
  query: number,
  current: number,
  hit: boolean | undefined,
  before: number,
  now: number,
): number {
  const { shaping } = world;
  if (!shaping) return hit ? 1 : 0;
  if (shaping.kind === 'potential') return (hit === undefined ? (shaping.gamma ?? 1) * now : Number(hit)) - before;
  return hit ? 1 : hit === false ? worth(world, shaping, query, current) : 0;
}

/** @throws WorkbenchError `data` for a probability outside [0, 1], which would teach anything */
function worth({ queries }: LinkQueryWorld, { weight, probability }: LinkShaping, query: number, entity: number) {
  const [head, relation] = [queries.heads[query]!, queries.relations[query]!];
  const value = probability(head, relation, entity);
  if (value >= 0 && value <= 1) return weight * value;
  throw new WorkbenchError(
    'data',
    `expected a probability from 0 to 1, got ${value}, at shaping of (${head}, ${relation}, ${entity})`,
  );
}
