/** The contract of exact walkers: agents of link queries that are fitted to train's triples step by step, without walking by PPO. */
import type { Tensor } from '../../checkpoints/safetensors.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import type { Rng } from '../../src/run/seeds.js';
import type { StoredTensors } from '../../src/tensor/parameters.js';
import type { LinkRanker } from '../link-agents.js';
import type { RelationNames } from './messages/relation-names.js';
import type { ExactWalkerSettings } from './settings.js';

/** What an exact walker is made from. */
export interface ExactFacts {
  /** Edges of train and their inverses. */
  graph: Graph;
  settings: ExactWalkerSettings;
  /** Hops of the longest walk. */
  hops: number;
  /** Of a kind that reads the names of relations. */
  names?: RelationNames | undefined;
  seed: number;
}

/** What it learns from beside that. */
export interface ExactCourse {
  /** Train's triples as queries of the directions that are trained. */
  queries: TripleColumns;
  /** Whether every edge between the ends of a train query is hidden, or its own and its inverse alone. */
  pairs: boolean;
  /** No byte depends on it. */
  threads: number;
  signal?: AbortSignal | undefined;
}

/** What a step tells. */
export interface ExactStep {
  loss: number;
  /** More for the curves, under `train/…`. */
  figures: Readonly<Record<string, number>>;
}

/** Goes on from whatever the walker has been restored to; close it after use. */
export interface ExactLearner {
  readonly steps: number;
  /** What steps are counted in, such as `relations`. */
  readonly unit: string;
  /** @param at from 0, in order; every random choice is named by the seed and this, so that resuming needs weights alone */
  step(at: number): Promise<ExactStep>;
  close(): Promise<void>;
}

/** What walks are wanted of. */
interface Query {
  head: number;
  relation: number;
  tail: number;
  /** Whether its own edge is hidden from it. */
  hidden: boolean;
}

/**
 * Finds walks from head to answer: int32 [2 · length] each, relation and entity of each step, no walk twice; none where it knows none.
 * @param most drawn by `rng` where there are more
 */
export type WalkFinder = (query: Query, most: number, rng: Rng) => readonly Int32Array[];

/** An exact walker, fresh or as it was trained. */
export interface ExactWalker {
  /** Ranks all entities, by what it knows so far. */
  ranker(name: string): LinkRanker;
  learner(course: ExactCourse): ExactLearner;
  /**
   * Draws from the walks that end on an answer as the answer owes its chance to them. Absent where walks have no chances.
   * @param pairs as of `ExactCourse`
   */
  walks?(pairs: boolean): WalkFinder;
  /** The whole state of training, in arrays of its own. Restored, the next steps give equal bytes. */
  state(): Promise<{ steps: number; tensors: Record<string, Tensor> }>;
  /**
   * @param steps of the optimizer; undefined where it will rank only: tensors under `optimizerPrefix` may be missing then
   * @throws WorkbenchError `data` where a tensor is missing or of another shape
   */
  restore(tensors: StoredTensors, steps?: number): void;
}

/** A kind of exact walker: a line in `registry.ts`. */
export interface ExactWalkerKind {
  /** Its row's name in tables. */
  title: string;
  /** Of the longest walks that it can sum over. */
  mostHops: number;
  create(facts: ExactFacts): ExactWalker;
  /** Whether weights follow from what relations are called. */
  readsNames(settings: ExactWalkerSettings): boolean;
  /** What a training of this kind would do, for its plan. */
  plan(facts: Pick<ExactFacts, 'graph' | 'settings'>): string;
}
