/** The `bilinear` part of a configuration: DistMult and ComplEx. */
import { z } from 'zod';
import { transeSettings } from '../transe/settings.js';

/** Settings that tables of any model share. */
const table = transeSettings.shape;

/** The `bilinear` section of a configuration file. */
export const bilinearSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe('Train a bilinear scorer of links in addition to TransE: for shaping, and as a row of the link tables.'),
  imported: table.imported,
  model: z
    .enum(['complex', 'distmult'])
    .default('complex')
    .describe(
      'complex (ComplEx) uses complex vectors, so that a relation may hold in one direction only; distmult uses real ones.',
    ),
  dim: z
    .int()
    .min(8)
    .max(4096)
    .multipleOf(8)
    .default(256)
    .describe('Width of the vectors; ComplEx reads them as half as many complex numbers. Time and size grow with it.'),
  negatives: z
    .int()
    .min(1)
    .max(65536)
    .default(1024)
    .describe(
      'Negative entities for the queries of a batch, redrawn for each batch; all entities if the graph has fewer.',
    ),
  batchSize: z.int().min(1).max(65536).default(128).describe('Queries (head, relation) per update, inverses included.'),
  learningRate: z.number().positive().max(100).default(0.1).describe('Step size of Adagrad in the first epoch.'),
  schedule: table.schedule,
  regularization: z
    .number()
    .min(0)
    .max(10)
    .default(0.01)
    .describe('Weight of the cubes of the absolute values of the vectors of each true triple (N3).'),
  epochs: z.int().min(1).default(40).describe('Maximum number of passes over the training queries.'),
  evalEvery: table.evalEvery,
  patience: z
    .int()
    .min(1)
    .default(5)
    .describe('Stop after this many validations without improvement. The best weights are always kept.'),
});

/** Every setting with its value. */
export type BilinearSettings = z.output<typeof bilinearSettings>;
