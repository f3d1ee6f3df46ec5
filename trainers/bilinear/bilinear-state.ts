/** Everything bilinear training needs to go on, and its beginning. */
import type { BilinearTable } from '../../src/embedding/bilinear.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import { Rng } from '../../src/run/seeds.js';
import type { BilinearSettings } from './settings.js';

/** Training state after `epoch` whole epochs. The draws of an epoch come from the seed and its number. */
export interface BilinearState {
  epoch: number;
  table: BilinearTable;
  /** float32, as `table.entities`: Adagrad's sum of the squared gradients of each number. */
  entitySquares: Float32Array;
  /** float32, as `table.relations` */
  relationSquares: Float32Array;
  /** The best validated weights so far. */
  best: { epoch: number; metrics: LinkMetrics; entities: Float32Array; relations: Float32Array } | undefined;
  /** Validations since the best one. */
  checksWithoutGain: number;
}

/** Standard deviation of fresh numbers: scores begin near 0, where every entity is as likely as any other. */
const spread = 0.05;

/** Fresh weights, normal. @param numRelations inverses included */
export function createBilinear(
  { model, dim }: Pick<BilinearSettings, 'model' | 'dim'>,
  { numEntities, numRelations, seed }: { numEntities: number; numRelations: number; seed: number },
): BilinearState {
  const rng = Rng.named(seed, 'bilinear/init');
  const normal = (rows: number) => Float32Array.from({ length: rows * dim }, () => rng.normal() * spread);
  return {
    epoch: 0,
    table: {
      model,
      dim,
      numEntities,
      numRelations,
      entities: normal(numEntities),
      relations: normal(numRelations),
    },
    entitySquares: new Float32Array(numEntities * dim),
    relationSquares: new Float32Array(numRelations * dim),
    best: undefined,
    checksWithoutGain: 0,
  };
}
