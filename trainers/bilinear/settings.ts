/** The `bilinear` part of a configuration: DistMult and ComplEx. */
import { z } from 'zod';

/** The `bilinear` section of a configuration file. */
export const bilinearSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe('Train a bilinear scorer of links in addition to TransE: for shaping, and as a row of the link tables.'),
  imported: z
    .string()
    .optional()
    .describe(
      'Name of vectors of another program that `kgwalk embeddings import` keeps: they are used as they are, and nothing is trained.',
    ),
  model: z
    .enum(['complex', 'distmult'])
    .default('complex')
    .describe(
      'complex (ComplEx) takes vectors as complex numbers, so that a relation may hold in one direction only; distmult takes real ones.',
    ),
  dim: z
    .int()
    .min(8)
    .max(4096)
    .multipleOf(8)
    .default(256)
    .describe('Numbers of a vector; ComplEx reads them as half as many complex ones. Time and size grow with it.'),
  negatives: z
    .int()
    .min(1)
    .max(65536)
    .default(1024)
    .describe(
      'Entities that the queries of a batch are compared with, redrawn for each batch; all entities where the graph has no more.',
    ),
  batchSize: z
    .int()
    .min(1)
    .max(65536)
    .default(128)
    .describe('Queries (head, relation) of an update, inverses included.'),
  learningRate: z.number().positive().max(100).default(0.1).describe('Step size of Adagrad in the first epoch.'),
  schedule: z
    .enum(['linear', 'constant'])
    .default('linear')
    .describe('linear lets the step size fall to 0 over `epochs`; constant keeps it.'),
  regularization: z
    .number()
    .min(0)
    .max(10)
    .default(0.01)
    .describe('Weight of the cubes of the absolute values of the vectors of each true triple (N3).'),
  epochs: z.int().min(1).default(40).describe('Most passes over the training queries.'),
  evalEvery: z
    .int()
    .min(1)
    .default(5)
    .describe('Epochs between validations (filtered MRR); the last epoch always validates.'),
  patience: z
    .int()
    .min(1)
    .default(5)
    .describe('Stop after this many validations without a gain. The best weights are kept in any case.'),
});

/** Every setting with its value. */
export type BilinearSettings = z.output<typeof bilinearSettings>;
