/** Contract of exact walkers: link-prediction agents fitted to train triples step by step, without PPO. */
import type { Tensor } from '../../checkpoints/safetensors.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import type { Rng } from '../../src/run/seeds.js';
import type { StoredTensors } from '../../src/nn/parameters.js';
import type { LinkRanker } from '../link-ranker.js';
import type { RelationNames } from './messages/relation-names.js';
import type { ExactWalkerSettings } from './settings.js';

/** Inputs of an exact walker. */
export interface ExactFacts {
  /** Train edges and their inverses. */
  graph: Graph;
  settings: ExactWalkerSettings;
  hops: number;
  /** For kinds that use relation names. */
  names?: RelationNames | undefined;
  seed: number;
}

/** Further inputs of training. */
export interface ExactTrainerOptions {
  /** Train triples as queries in the trained directions. */
  queries: TripleColumns;
  /** True: hide every edge between the ends of a train query; false: only its own and its inverse. */
  pairs: boolean;
  /** Does not affect results. */
  threads: number;
  signal?: AbortSignal | undefined;
}

interface ExactStep {
  loss: number;
  /** Further metrics, logged under `train/…`. */
  figures: Readonly<Record<string, number>>;
}

/** Continues from the restored state; close after use. */
export interface ExactTrainer {
  readonly steps: number;
  /** Unit of steps, such as `relations`. */
  readonly unit: string;
  /** @param at from 0, in order; random choices are seeded by it, so that resuming needs only weights */
  step(at: number): Promise<ExactStep>;
  close(): Promise<void>;
}

interface Query {
  head: number;
  relation: number;
  tail: number;
  /** True if its own edge is hidden. */
  hidden: boolean;
}

/**
 * Finds distinct walks from head to answer: int32 [2 · length] each, relation and entity of each step; none if unknown.
 * @param most sampled by `rng` if there are more
 */
export type WalkFinder = (query: Query, most: number, rng: Rng) => readonly Int32Array[];

/** Exact walker, new or trained. */
export interface ExactWalker {
  ranker(name: string): LinkRanker;
  trainer(options: ExactTrainerOptions): ExactTrainer;
  /** Samples walks that end on an answer by their share of its probability; absent for models without walk probabilities. */
  walks?(pairs: boolean): WalkFinder;
  /** Full training state as copied arrays; after restoring it the next steps give equal bytes. */
  state(): Promise<{ steps: number; tensors: Record<string, Tensor> }>;
  /**
   * @param steps of the optimizer; undefined for ranking only, then tensors under `optimizerPrefix` may be missing
   * @throws WorkbenchError `data` for a missing tensor or a wrong shape
   */
  restore(tensors: StoredTensors, steps?: number): void;
}

/** Kind of exact walker, listed in `registry.ts`. */
export interface ExactWalkerKind {
  title: string;
  mostHops: number;
  create(facts: ExactFacts): ExactWalker;
  readsNames(settings: ExactWalkerSettings): boolean;
  /** True if its weights suit graphs with other relations. */
  suitsOthers(settings: ExactWalkerSettings): boolean;
  plan(facts: Pick<ExactFacts, 'graph' | 'settings'>): string;
}
