/** The `transe` part of a configuration. */
import { z } from 'zod';

/** The `transe` section of a configuration file. */
export const transeSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe('Pretrain entity and relation vectors on the graph. Off: agents that need them get none.'),
  imported: z
    .string()
    .optional()
    .describe('Name of imported vectors (`kgwalk embeddings import`): used unchanged, without training.'),
  dim: z.int().min(1).max(4096).default(100).describe('Width of the vectors. Time and size grow with it.'),
  norm: z
    .union([z.literal(1), z.literal(2)])
    .default(1)
    .describe('Distance: 1 sums absolute differences, 2 is Euclidean. The margin must suit it.'),
  loss: z
    .enum(['self-adversarial', 'margin'])
    .default('self-adversarial')
    .describe(
      'self-adversarial: log-sigmoid loss that weights negatives by the model’s error on them; margin: a hinge for each negative.',
    ),
  margin: z
    .number()
    .positive()
    .default(6)
    .describe('Distance where a triple turns from true to false (self-adversarial), or the gap of the hinge (margin).'),
  temperature: z
    .number()
    .min(0)
    .default(1)
    .describe('Sharpness of the weights of negatives in the self-adversarial loss; 0 weights them alike.'),
  negatives: z.int().min(1).max(4096).default(25).describe('Corrupted triples per true one. Time grows with it.'),
  negativeCutoff: z
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe(
      'Negatives whose gradient is below this share of the largest in their group are left out: faster, and nearly the same; 0 keeps all.',
    ),
  bernoulli: z
    .boolean()
    .default(false)
    .describe(
      'Choose the side to corrupt by the relation’s numbers of tails per head and heads per tail; off: each side half the time.',
    ),
  optimizer: z
    .enum(['adagrad', 'sgd'])
    .default('adagrad')
    .describe(
      'adagrad keeps one accumulator per row (the mean of its squared gradient); sgd needs another learning rate.',
    ),
  learningRate: z.number().positive().max(1e6).default(0.1).describe('Step size of the first epoch.'),
  batchSize: z
    .int()
    .min(1)
    .max(65536)
    .default(1)
    .describe(
      'True triples whose gradients are taken from the same weights. 1 learns most per epoch, on one thread at any --threads; from 64 on, threads share the work. Weights depend on it, never on the number of threads.',
    ),
  schedule: z
    .enum(['linear', 'constant'])
    .default('linear')
    .describe('linear decays the step size to 0 over `epochs`; constant keeps it.'),
  epochs: z.int().min(1).default(20).describe('Maximum number of passes over the training triples.'),
  validShare: z
    .number()
    .min(0)
    .max(0.5)
    .default(0.01)
    .describe(
      'Share of the facts held out to validate, none of them on a dialogue path of train; 0 trains all epochs without validation.',
    ),
  evalEvery: z
    .int()
    .min(1)
    .default(5)
    .describe('Epochs between validations (filtered MRR); the last epoch always validates.'),
  patience: z
    .int()
    .min(1)
    .default(3)
    .describe('Stop after this many validations without improvement. The best weights are always kept.'),
});

/** Every setting with its value. */
export type TransESettings = z.output<typeof transeSettings>;
