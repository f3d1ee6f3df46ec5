/** The `evaluation` part of a configuration. */
import { z } from 'zod';

/** The `evaluation` section of a configuration file. */
export const evaluationSettings = z
  .strictObject({
    beamWidth: z
      .int()
      .min(1)
      .default(30)
      .describe(
        'Complete walks an agent ranks for a sample. At least the largest of `ks`, or path@k would be cut short.',
      ),
    ks: z.array(z.int().min(1)).min(1).default([1, 3, 5, 10, 25]).describe('The k of path@k, target@k and their kin.'),
    resamples: z
      .int()
      .min(1)
      .default(2000)
      .describe('Bootstrap resamples behind every interval and test; whole dialogues are drawn.'),
    twoHopBonus: z
      .number()
      .default(0)
      .describe(
        'Added to the log-probability of two-hop walks when ranking, in nats; 0.6 finds more two-hop golds at the price of one-hop ones. Probabilities stay what they are.',
      ),
    pooling: z
      .enum(['max', 'sum'])
      .default('max')
      .describe(
        'Link queries: what an entity is worth that several walks of a beam reach: the probability of the best, or of all together. It chooses the best checkpoint; evaluations show both.',
      ),
    batchSize: z.int().min(1).default(256).describe('Samples an agent gets at once. Changes speed, not results.'),
    examples: z.int().min(0).default(12).describe('Worked examples to keep in a saved evaluation, drawn by seed.'),
  })
  .refine(({ beamWidth, ks }) => beamWidth >= Math.max(...ks), {
    path: ['beamWidth'],
    message: 'expected a beam at least as wide as the largest k, got a narrower one',
  });

/** Every setting with its value. */
export type EvaluationSettings = z.output<typeof evaluationSettings>;
