/** Settings of behaviour cloning. */
import { z } from 'zod';
import { linkedTurnSettings } from '../datasets/settings.js';

/** The `clone` section of a configuration file. */
export const cloneSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('Clone the gold walks before PPO.'),
  epochs: z
    .int()
    .min(1)
    .max(1000)
    .default(4)
    .describe('Passes over the train samples; the epoch with the lowest valid loss is kept.'),
  batchSize: z.int().min(1).max(65536).default(128).describe('Samples per update; each has one state per hop.'),
  learningRate: z.number().positive().max(1).default(2e-3).describe('Peak learning rate of AdamW.'),
  weightDecay: z.number().min(0).max(1).default(1e-4).describe('Decoupled weight decay.'),
  warmupSteps: z
    .int()
    .min(0)
    .default(60)
    .describe('Updates over which the learning rate rises linearly; then it falls as a cosine.'),
  finalLearningRateShare: z.number().min(0).max(1).default(0.02).describe('Final share of the peak learning rate.'),
  maxGradNorm: z.number().positive().default(1).describe('Largest global gradient norm.'),
  maxCandidates: z
    .int()
    .min(3)
    .default(64)
    .describe(
      'Maximum number of actions listed per state in training: larger hubs are sampled uniformly, with corrected logits. With loss=nodes all edges into the gold entity are listed, without limit. Evaluation never samples.',
    ),
  loss: z
    .enum(['edges', 'nodes', 'hinge'])
    .default('edges')
    .describe(
      'Cloning target for dialogues: `edges`, the gold edges; `nodes`, the gold entities: −ln of the summed probability of all edges into the gold entity, as AttnIO does; `hinge`, the margins between vectors of golds and of 20 others drawn from the whole graph, as the OpenDialKG paper does (heads seq2seq and dialkg-walker). The loss on valid always uses edges.',
    ),
  twoHopWeight: z.number().positive().max(100).default(1).describe('Weight of two-hop golds in the loss.'),
  linkedTurns: linkedTurnSettings
    .nullable()
    .default(null)
    .describe(
      'Dialogues: also clones walks for train turns without annotation, between their mentioned entities; null: annotated turns only.',
    ),
});

/** Every setting with its value. */
export type CloneSettings = z.output<typeof cloneSettings>;
