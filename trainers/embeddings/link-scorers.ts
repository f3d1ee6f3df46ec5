/** Embeddings of a link data set, trained or kept from before, as scorers of its queries. */
import type { LinkScorer } from '../../src/embedding/link-scorer.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { ProgressReporter } from '../../src/run/progress.js';
import type { TrainSettings } from '../train-settings.js';

/** The sections of the settings that train a scorer. */
export type LinkScorerSection = 'transe' | 'bilinear';

/** What a scorer is trained on; a link data set has it all. */
export interface ScoredData {
  /** Edges of train and their inverses; entities of all splits. */
  graph: Graph;
  train: TripleColumns;
  /** Chooses the epoch. Test is never looked at, not even as known answers. */
  valid: TripleColumns;
}

/** How the work is done; no byte depends on it. */
export interface OpenScorerOptions {
  /** Default 1. */
  threads?: number | undefined;
  progress?: ProgressReporter | undefined;
  /** Aborted: the epoch is finished and the state saved; the next call with equal settings goes on from there. */
  signal?: AbortSignal | undefined;
}

/** Figures of a scorer on triples, filtered and realistic: both directions together and each apart. */
export interface SidedLinkMetrics {
  both: LinkMetrics;
  /** (head, relation, ?) */
  tail: LinkMetrics;
  /** (?, relation, tail) */
  head: LinkMetrics;
}

/** A scorer and where it came from. */
export interface OpenedScorer {
  scorer: LinkScorer;
  /** Absolute path of the kept table; a run copies it into its own folder. */
  file: string;
  /** Whether the table was there already. */
  reused: boolean;
  /** On valid, with train and valid as known answers; absent where valid has no triples. */
  metrics: SidedLinkMetrics | undefined;
  /** The vectors as features: entities [numEntities, dim], relations [numRelations, dim] with inverses; row-major. */
  table: { dim: number; entities: Float32Array; relations: Float32Array };
}

/**
 * Trains the scorer of a settings section on train, or reads the table that is kept for these settings, data and seed.
 * @throws WorkbenchError `stopped` once the signal is aborted, after saving
 */
export function openLinkScorer(
  name: LinkScorerSection,
  _dataset: ScoredData,
  _settings: Pick<TrainSettings, 'transe' | 'bilinear' | 'seed'>,
  _options: OpenScorerOptions = {},
): Promise<OpenedScorer> {
  return Promise.reject(new WorkbenchError('failure', `expected a scorer that is written, got ${name}`));
}
