/** Everything TransE training needs to go on, and its beginning. */
import type { EmbeddingTable } from '../../src/embedding/transe.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import { Rng } from '../../src/run/seeds.js';
import type { TransESettings } from './settings.js';

/** The best validated weights so far. */
export interface BestTable {
  epoch: number;
  metrics: LinkMetrics;
  entities: Float32Array;
  relations: Float32Array;
}

/**
 * Training state after `epoch` whole epochs. It holds no generator: the draws of an epoch come from the seed and the
 * epoch's number, so these arrays and numbers are all there is to save.
 */
export interface TransEState {
  epoch: number;
  table: EmbeddingTable;
  /** float64 [numEntities]: Adagrad's sum of mean squared gradients of each row; unused by sgd. */
  entitySquares: Float64Array;
  /** float64 [numRelations] */
  relationSquares: Float64Array;
  best: BestTable | undefined;
  /** Validations since the best one. */
  checksWithoutGain: number;
}

/** Sizes, the margin that sets the first distances, and the seed. */
export interface CreateTransEOptions {
  numEntities: number;
  numRelations: number;
  settings: Pick<TransESettings, 'dim' | 'norm' | 'margin'>;
  seed: number;
}

/** Fresh weights, uniform in ±(margin + 2) / dim: distances begin near the margin, where the loss has its slope. */
export function createTransE({ numEntities, numRelations, settings, seed }: CreateTransEOptions): TransEState {
  const { dim, norm, margin } = settings;
  const rng = Rng.named(seed, 'transe/init');
  const span = (margin + 2) / dim;
  const uniform = (rows: number) => Float32Array.from({ length: rows * dim }, () => (2 * rng.uniform() - 1) * span);
  return {
    epoch: 0,
    table: {
      model: 'transe',
      norm,
      dim,
      numEntities,
      numRelations,
      entities: uniform(numEntities),
      relations: uniform(numRelations),
    },
    entitySquares: new Float64Array(numEntities),
    relationSquares: new Float64Array(numRelations),
    best: undefined,
    checksWithoutGain: 0,
  };
}
